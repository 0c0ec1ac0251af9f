/** `stepwright validate`: checks files with the server's own validator, on a temporary server. */
import { EXIT_CODES } from '../exit-codes.js';
import { checkFiles } from '../files/check-files.js';
import { Output, printNote } from '../output/output.js';
import { continued } from '../output/plain-text.js';
import { asGithub, asText, jsonOf, summaryOf } from '../output/print-problems.js';
import { readWorkflowFiles } from '../files/workflow-files.js';

export interface ValidateOptions {
  readonly strict: boolean;
  readonly json: boolean;
  /** Prints GitHub Actions annotations instead of text. */
  readonly github: boolean;
}

/** @returns the exit code: 1 if there are errors, or warnings and `strict` is set */
export async function validate(
  paths: readonly string[],
  { github, json, strict }: ValidateOptions,
): Promise<number> {
  const files = await readWorkflowFiles(paths);
  if (files.length === 0) {
    printNote(
      `stepwright: there are no definitions, scripts or limits in ${continued(paths.join(', '))}`,
    );
    return EXIT_CODES.failed;
  }
  const found = await checkFiles(files);
  const output = new Output({ json });
  output.result(jsonOf(found), () => {
    for (const each of found) {
      if (each.problems.length === 0) continue;
      if (github) process.stdout.write(asGithub(each));
      else output.line(asText(each, output.paint));
    }
    output.note(summaryOf(found));
  });
  const isBad = found.some(({ problems }) =>
    problems.some(({ severity }) => strict || severity === 'error'),
  );
  return isBad ? EXIT_CODES.failed : EXIT_CODES.done;
}
