/**
 * Problems that parsing alone cannot find: the server knows which custom steps exist, and the Python interpreter finds
 * syntax errors.
 */
import { quoteText } from '../values/convert-input.js';
import type { DocumentProblem } from '../model/definition.js';
import { BUILT_IN_STEP_TYPES } from './step-type-names.js';
import type { CustomStepUse, ExpressionSource } from './parse-state.js';
import { suggestName } from './suggest-name.js';

export function unknownStepType({ name, pointer }: CustomStepUse): DocumentProblem {
  const hint = suggestName(name, BUILT_IN_STEP_TYPES);
  const message = `There is no built-in step type or custom step named ${quoteText(name)}.${hint}`;
  return { code: 'unknown_step_type', message, pointer };
}

/** An error reported by Python. The position counts from 1 and is null if Python reports none. */
export interface PythonSyntaxError {
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

export function notPython(
  { pointer, source }: Pick<ExpressionSource, 'pointer' | 'source'>,
  syntaxError: PythonSyntaxError,
): DocumentProblem {
  const said = `Python syntax error in this expression: ${syntaxError.message}${placeIn(source, syntaxError)}.`;
  return { code: 'python_syntax', message: `${said}${textHint(source)}`, pointer };
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
function textHint(source: string): string {
  const text = source.trim();
  if (!PLAIN_TEXT.test(text) || VARIABLE.test(text)) return '';
  return ` For a literal string, write ${quoteText(`'${text}'`)}.`;
}
