/** `stepwright validate`: checks files with the server's own validator, on a server that exists only for this. */
import { EXIT_CODES } from '../exit-codes.js';
import { checkFiles } from '../files/check-files.js';
import { painterFor } from '../output/paint.js';
import { plainLines } from '../output/plain-text.js';
import {
  asGithub,
  asJson,
  asText,
  summaryOf,
  type FileProblems,
} from '../output/print-problems.js';
import { readWorkflowFiles } from '../files/workflow-files.js';

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
      plainLines(`stepwright: there are no definitions or scripts in ${paths.join(', ')}\n`),
    );
    return EXIT_CODES.failed;
  }
  const found = await checkFiles(files);
  print(found, format);
  const isBad = found.some(({ problems }) =>
    problems.some(({ severity }) => strict || severity === 'error'),
  );
  return isBad ? EXIT_CODES.failed : EXIT_CODES.done;
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
