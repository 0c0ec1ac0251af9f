/** Prints file problems as text, as JSON and for GitHub Actions. */
import type { Paint } from './paint.js';
import { continued, plain, plainLines } from './plain-text.js';
import type { Problem } from '../files/store-files.js';
import type { WorkflowFile } from '../files/workflow-files.js';

export interface FileProblems {
  readonly file: WorkflowFile;
  readonly problems: readonly Problem[];
}

const EXCERPT_LENGTH_MAX = 120;

/** `file:line:column: error: message`, and the line with a mark below the column. */
export function asText({ file, problems }: FileProblems, paint: Paint): string {
  return problems.map((problem) => textOf(file, problem, paint)).join('\n');
}

function textOf(file: WorkflowFile, problem: Problem, paint: Paint): string {
  const { code, column, line, message, severity } = problem;
  const path = plain(file.path);
  const place = line === undefined ? path : `${path}:${line}:${column ?? 1}`;
  const label = paint(severity === 'error' ? 'red' : 'yellow', `${severity}:`);
  return `${paint('bold', place)}: ${label} ${continued(message)} ${paint('dim', `(${code})`)}${excerpt(file, problem, paint)}\n`;
}

function excerpt({ text }: WorkflowFile, { column = 1, line }: Problem, paint: Paint): string {
  const shown = line === undefined ? undefined : text.split(/\r?\n/)[line - 1];
  if (shown === undefined || line === undefined) return '';
  // The part of a long line around the column.
  const from = Math.max(0, column - EXCERPT_LENGTH_MAX);
  const number = String(line);
  // Escapes are longer than the characters they replace.
  const before = plainLines(shown.slice(from, column - 1)).replace(/[^\t]/g, ' ');
  return [
    '',
    `  ${paint('dim', `${number} |`)} ${plainLines(shown.slice(from, from + EXCERPT_LENGTH_MAX))}`,
    `  ${' '.repeat(number.length)} ${paint('dim', '|')} ${before}${paint('red', '^')}`,
  ].join('\n');
}

/** One object per problem. */
export function jsonOf(found: readonly FileProblems[]): object {
  const items = found.flatMap(({ file, problems }) =>
    problems.map((problem) => ({ file: file.path, ...problem })),
  );
  return { files: found.length, problems: items };
}

/** One GitHub Actions workflow command per problem. */
export function asGithub({ file, problems }: FileProblems): string {
  return problems
    .map(({ code, column, line, message, severity }) => {
      const position = line === undefined ? '' : `,line=${line},col=${column ?? 1}`;
      const place = `file=${escapeProperty(plain(file.path))}${position},title=${escapeProperty(code)}`;
      return `::${severity} ${place}::${escapeData(plainLines(message))}\n`;
    })
    .join('');
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** `3 files, 1 error, 2 warnings`. */
export function summaryOf(found: readonly FileProblems[]): string {
  const all = found.flatMap(({ problems }) => problems);
  const errors = all.filter(({ severity }) => severity === 'error').length;
  return [
    counted(found.length, 'file'),
    counted(errors, 'error'),
    counted(all.length - errors, 'warning'),
  ].join(', ');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
