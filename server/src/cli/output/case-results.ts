/** Prints test results as text and as JSON. */
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import type { Difference } from '../../test-kit/files/differences.js';
import type { CaseResult } from '../../test-kit/files/run-case.js';
import type { FileReport } from '../../test-kit/files/run-file.js';
import type { Output } from './output.js';
import { continued, plain } from './plain-text.js';

const VALUE_LENGTH_MAX = 2000;

export function hasFailed({ cases, problems }: FileReport): boolean {
  return problems.length > 0 || cases.some(({ failures }) => failures.length > 0);
}

export function printReport(output: Output, report: FileReport): void {
  const { cases, path, problems } = report;
  const { paint } = output;
  output.line(paint('bold', plain(path)));
  for (const { column, line, message, path: at } of problems) {
    output.line(
      `  ${paint('red', 'error:')} ${plain(at)}:${line}:${column}: ${continued(message)}`,
    );
  }
  for (const each of cases) {
    const isGood = each.failures.length === 0;
    const mark = isGood ? paint('green', '✓') : paint('red', '✗');
    const time = paint('dim', `(${Math.ceil(each.durationMs)} ms)`);
    output.line(`  ${mark} ${plain(each.name)} ${time}`);
    if (!isGood) printFailures(output, path, each);
  }
}

function printFailures(output: Output, path: string, { failures, story }: CaseResult): void {
  const { paint } = output;
  for (const { differences, message, place } of failures) {
    const at = `${plain(path)}:${place.line}:${place.column}`;
    output.line(`      ${paint('bold', at)}: ${continued(message).replaceAll('\n', '\n      ')}`);
    for (const { actual, expected, path: where } of differences) {
      output.line(paint('green', `        - ${plain(where)}: ${shown(expected)}`));
      output.line(paint('red', `        + ${plain(where)}: ${shown(actual)}`));
    }
  }
  if (failures.some(({ differences }) => differences.length > 0)) {
    output.line(paint('dim', '        (- expected, + actual)'));
  }
  if (story === null) return;
  const steps = story.steps.length === 0 ? 'none' : story.steps.join(', ');
  output.line(`      ${paint('dim', 'completed steps:')} ${plain(steps)}`);
  output.line(`      ${paint('dim', 'the run:')} ${continued(story.waiting)}`);
}

function shown(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = plain(writeJson(value));
  return text.length <= VALUE_LENGTH_MAX ? text : `${text.slice(0, VALUE_LENGTH_MAX)}…`;
}

export function printSummary(
  output: Output,
  reports: readonly FileReport[],
  durationMs: number,
): void {
  const { failed, passed, problems } = countsOf(reports);
  const parts = [
    output.paint('green', `${passed} passed`),
    ...(failed > 0 ? [output.paint('red', `${failed} failed`)] : []),
    ...(problems > 0 ? [output.paint('red', `${problems} error${problems === 1 ? '' : 's'}`)] : []),
  ];
  output.line(`${parts.join(', ')} in ${(durationMs / 1000).toFixed(2)} s`);
}

function countsOf(reports: readonly FileReport[]): {
  readonly passed: number;
  readonly failed: number;
  readonly problems: number;
} {
  const cases = reports.flatMap((report) => report.cases);
  const failed = cases.filter(({ failures }) => failures.length > 0).length;
  const problems = reports.reduce((sum, report) => sum + report.problems.length, 0);
  return { passed: cases.length - failed, failed, problems };
}

export function resultsOf(reports: readonly FileReport[], durationMs: number): JsonObject {
  return {
    ...countsOf(reports),
    durationMs: Math.round(durationMs),
    files: reports.map(({ cases, path, problems }) => ({
      file: path,
      problems: problems.map(({ column, line, message, path: at }) => ({
        file: at,
        line,
        column,
        message,
      })),
      cases: cases.map(caseResult),
    })),
  };
}

function caseResult({ durationMs, failures, name, place, story }: CaseResult): JsonObject {
  return {
    name,
    ...place,
    passed: failures.length === 0,
    durationMs: Math.round(durationMs),
    failures: failures.map(({ differences, message, place: at }) => ({
      ...at,
      message,
      differences: differences.map(differenceOf),
    })),
    steps: [...(story?.steps ?? [])],
    summary: story?.waiting ?? null,
  };
}

/** An absent member, expected or actual. */
function differenceOf({ actual, expected, path }: Difference): JsonObject {
  return {
    path,
    ...(expected === undefined ? {} : { expected }),
    ...(actual === undefined ? {} : { actual }),
  };
}

/** A failure as plain text, for external formats. */
export function failureText(path: string, { failures, story }: CaseResult): string {
  const lines = failures.flatMap(({ differences, message, place }) => [
    `${path}:${place.line}:${place.column}: ${message}`,
    ...differences.flatMap(({ actual, expected, path: where }) => [
      `- ${where}: ${shown(expected)}`,
      `+ ${where}: ${shown(actual)}`,
    ]),
  ]);
  if (story === null) return lines.join('\n');
  return [...lines, `completed steps: ${story.steps.join(', ')}`, `the run: ${story.waiting}`].join(
    '\n',
  );
}
