/** The results of tests in the format of JUnit, which CI servers show. */
import type { FileReport } from '../../testing/files/run-file.js';
import { failureText } from './test-results.js';

/** XML 1.0 has no way to write these. */
const IMPOSSIBLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

export function junitOf(reports: readonly FileReport[]): string {
  const suites = reports.map(suiteOf).join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="stepwright">\n${suites}</testsuites>\n`;
}

function suiteOf({ cases, path, problems }: FileReport): string {
  const failures = cases.filter((each) => each.failures.length > 0).length;
  const seconds = cases.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const errors = problems.map(({ column, line, message, path: at }) => {
    const text = `${at}:${line}:${column}: ${message}`;
    return `    <testcase name="read" classname="${xml(path)}" time="0">\n      <error message="${xml(message)}">${xml(text)}</error>\n    </testcase>\n`;
  });
  const items = cases.map((each) => {
    const opening = `    <testcase name="${xml(each.name)}" classname="${xml(path)}" time="${(each.durationMs / 1000).toFixed(3)}"`;
    const [first] = each.failures;
    if (first === undefined) return `${opening}/>\n`;
    const text = xml(failureText(path, each));
    return `${opening}>\n      <failure message="${xml(first.message)}">${text}</failure>\n    </testcase>\n`;
  });
  const counts = `tests="${cases.length + errors.length}" failures="${failures}" errors="${errors.length}"`;
  return `  <testsuite name="${xml(path)}" ${counts} time="${seconds.toFixed(3)}">\n${errors.join('')}${items.join('')}  </testsuite>\n`;
}

function xml(text: string): string {
  return text
    .replaceAll(IMPOSSIBLE, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
}
