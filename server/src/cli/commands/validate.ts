/** `stepwright validate`: checks files with the server's own validator, on a temporary server. */
import { EXIT_CODES } from '../exit-codes.js';
import { checkFiles } from '../files/check-files.js';
import { painterFor } from '../output/paint.js';
import { printLine, printNote } from '../output/output.js';
import { continued } from '../output/plain-text.js';
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
    printNote(`stepwright: there are no definitions or scripts in ${continued(paths.join(', '))}`);
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
    printLine(asJson(found));
    return;
  }
  const paint = painterFor(process.stdout);
  for (const each of found) {
    if (each.problems.length === 0) continue;
    if (format === 'github') process.stdout.write(asGithub(each));
    else printLine(asText(each, paint));
  }
  printNote(summaryOf(found));
}
