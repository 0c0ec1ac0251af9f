/** `stepwright validate`: checks files with the server's own validator, on a server that exists only for this. */
import { EXIT_CODES } from '../exit-codes.js';
import { withOfflineServer } from '../files/offline-server.js';
import { painterFor } from '../output/paint.js';
import {
  asGithub,
  asJson,
  asText,
  summaryOf,
  type FileProblems,
} from '../output/print-problems.js';
import { checkDefinition, storeFile, type ServerCalls } from '../files/store-files.js';
import { readWorkflowFiles, type WorkflowFile } from '../files/workflow-files.js';

export interface ValidateOptions {
  readonly format: 'text' | 'json' | 'github';
  readonly strict: boolean;
}

/** @returns the exit code: 1 if there are errors, or warnings and `strict` is set */
export async function validate(
  paths: readonly string[],
  { format, strict }: ValidateOptions,
): Promise<number> {
  const files = await readWorkflowFiles(paths);
  if (files.length === 0) {
    process.stderr.write(
      `stepwright: there are no definitions or scripts in ${paths.join(', ')}\n`,
    );
    return EXIT_CODES.failed;
  }
  const found = await withOfflineServer((server) => checkAll(server, files));
  print(found, format);
  const isBad = found.some(({ problems }) =>
    problems.some(({ severity }) => strict || severity === 'error'),
  );
  return isBad ? EXIT_CODES.failed : EXIT_CODES.done;
}

/** In order: scripts come first, and are stored so that definitions find them. */
async function checkAll(
  server: ServerCalls,
  files: readonly WorkflowFile[],
): Promise<FileProblems[]> {
  const found: FileProblems[] = [];
  for (const file of files) {
    const problems =
      file.kind === 'script'
        ? ((await storeFile(server, file))?.problems ?? [])
        : await checkDefinition(server, file);
    found.push({ file, problems });
  }
  return found;
}

function print(found: readonly FileProblems[], format: ValidateOptions['format']): void {
  if (format === 'json') {
    process.stdout.write(`${asJson(found)}\n`);
    return;
  }
  const paint = painterFor(process.stdout);
  for (const each of found) {
    if (each.problems.length === 0) continue;
    process.stdout.write(format === 'github' ? asGithub(each) : `${asText(each, paint)}\n`);
  }
  process.stderr.write(`${summaryOf(found)}\n`);
}
