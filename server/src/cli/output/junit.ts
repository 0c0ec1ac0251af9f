/** Test results in JUnit format, which CI servers display. */
import type { FileReport } from '../../test-kit/files/run-file.js';
import { markup } from './markup.js';
import { failureText } from './case-results.js';

export function junitOf(reports: readonly FileReport[]): string {
  const suites = reports.map(suiteOf).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="stepwright">\n${suites}</testsuites>\n`;
}

function suiteOf({ cases, path, problems }: FileReport): string {
  const failures = cases.filter((each) => each.failures.length > 0).length;
  const seconds = cases.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const errors = problems.map(({ column, line, message, path: at }) => {
    const text = `${at}:${line}:${column}: ${message}`;
    return `    <testcase name="read" classname="${markup(path)}" time="0">\n      <error message="${markup(message)}">${markup(text)}</error>\n    </testcase>\n`;
  });
  const items = cases.map((each) => {
    const opening = `    <testcase name="${markup(each.name)}" classname="${markup(path)}" time="${(each.durationMs / 1000).toFixed(3)}"`;
    const [first] = each.failures;
    if (first === undefined) return `${opening}/>\n`;
    const text = markup(failureText(path, each));
    return `${opening}>\n      <failure message="${markup(first.message)}">${text}</failure>\n    </testcase>\n`;
  });
  const counts = `tests="${cases.length + errors.length}" failures="${failures}" errors="${errors.length}"`;
  return `  <testsuite name="${markup(path)}" ${counts} time="${seconds.toFixed(3)}">\n${errors.join('')}${items.join('')}  </testsuite>\n`;
}
