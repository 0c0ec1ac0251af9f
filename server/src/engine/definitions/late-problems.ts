/**
 * Problems that parsing alone can't find: missing custom steps and limits, which the server looks up, and syntax errors, which the Python
 * interpreter reports.
 */
import { quoteText } from '../values/convert-input.js';
import type { DocumentProblem } from '../model/definition.js';
import { BUILT_IN_STEP_TYPES } from '../model/step-type-names.js';
import type { LimitSettings } from '../model/limit.js';
import type { CustomStepUse, ExpressionSource, StepLimitUse } from './parse-state.js';
import { findForeignSyntax, foreignHint } from './foreign/foreign-syntax.js';
import { suggestedName, suggestName } from './suggest-name.js';

export function unknownStepType({ name, pointer }: CustomStepUse): DocumentProblem {
  const hint = suggestName(name, BUILT_IN_STEP_TYPES);
  const message = `There is no built-in step type or custom step named ${quoteText(name)}.${hint}`;
  return { code: 'unknown_step_type', message, pointer };
}

/** @param known the names of limits to suggest */
export function unknownLimit(
  { name, pointer }: StepLimitUse,
  known: readonly string[],
): DocumentProblem {
  const suggestion = suggestedName(name, known);
  const hint = suggestion === null ? '' : ` Did you mean "${suggestion}"?`;
  const message = `There is no limit named ${quoteText(name)} on this server.${hint}`;
  const problem = { code: 'unknown_limit', message, pointer };
  return suggestion === null ? problem : { ...problem, suggestion };
}

/** Units that the limit never has: the step would wait forever. */
export function excessiveUnits(
  { name, units, unitsPointer }: StepLimitUse,
  { concurrency, rate }: LimitSettings,
): readonly DocumentProblem[] {
  const bounds = [
    ['Concurrency', concurrency],
    ['Burst', rate?.burst ?? null],
  ] as const;
  return bounds.flatMap(([member, most]) => {
    if (most === null || units <= most) return [];
    const message = `Units must be at most ${most}, the ${member} of the limit ${quoteText(name)}, not ${units}: the step would wait forever.`;
    return [{ code: 'invalid_value', message, pointer: unitsPointer }];
  });
}

/** An error reported by Python. The position counts from 1 and is null if Python reports none. */
export interface PythonSyntaxError {
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** @param isPython checks whether a suggested text is valid Python */
export function notPython(
  { pointer, source }: Pick<ExpressionSource, 'pointer' | 'source'>,
  syntaxError: PythonSyntaxError,
  isPython: (source: string) => boolean,
): DocumentProblem {
  const said = `Python syntax error in this expression: ${syntaxError.message}${placeIn(source, syntaxError)}.`;
  const problem = { code: 'python_syntax', pointer };
  const text = plainTextIn(source);
  if (text !== null) {
    const message = `${said} For a literal string, write ${quoteText(text)}.`;
    return { ...problem, message, suggestion: text };
  }
  const foreign = findForeignSyntax(source);
  if (foreign === null) return { ...problem, message: said };
  const { message, suggestion } = foreignHint(foreign, isPython);
  return { ...problem, message: `${said} ${message}`, ...(suggestion !== null && { suggestion }) };
}

/** A hint about another language's syntax in a script's line, to append to an error. */
export function scriptHint(source: string, line: number | null): string {
  const text = line === null ? undefined : source.split('\n', line)[line - 1];
  const foreign = text === undefined ? null : findForeignSyntax(text.replace(/\r$/, ''));
  return foreign === null ? '' : `. ${foreign.hint}`;
}

function placeIn(source: string, { column, line }: PythonSyntaxError): string {
  if (line === null || column === null) return '';
  return source.includes('\n')
    ? ` (line ${line}, column ${column} of the expression)`
    : ` (column ${column} of the expression)`;
}

/** Words, times and addresses: no quotes, brackets, Python operators or line breaks. */
const PLAIN_TEXT = /^[^"'`()[\]{}=+*<>%&|^~\\\n\r]{1,60}$/;
const VARIABLE = /\b(?:data|context|environment|step)\b/;

/** The most common mistake: missing quotes around a string literal. */
function plainTextIn(source: string): string | null {
  const text = source.trim();
  return !PLAIN_TEXT.test(text) || VARIABLE.test(text) ? null : `'${text}'`;
}
