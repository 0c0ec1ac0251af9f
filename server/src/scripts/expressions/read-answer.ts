/**
 * Reads the response of an interpreter. The text comes from a process that ran untrusted code, so it can be anything: its
 * shape, counts, nesting and numbers are checked here, and nothing is trusted unchecked.
 *
 * A response consists of lines: a JSON object that reports the outcome, then one JSON value per line (see runner.py).
 */
import { isUtf8 } from 'node:buffer';
import { IntegerTooLong, readJson } from '../../engine/values/exact-json.js';
import { remainingBytes, TOO_DEEP } from '../../engine/values/json-length.js';
import { isJsonObject, setField, type Json, type JsonObject } from '../../engine/values/json.js';
import { endOfString } from '../../engine/values/json-string.js';
import { memoryCost } from '../../engine/values/memory-cost.js';
import type { EvaluationResult, ScriptError } from '../script-runtime.js';

/** Documents in the stores nest at most 100 levels deep, and values are stored inside other values. */
export const MAX_NESTING = 90;

const MAX_TYPE_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 4_000;
const MAX_TRACEBACK_LENGTH = 4_096;

/** Not a response of runner.py: the interpreter can no longer be trusted. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer';
}

export type ScriptAnswer =
  | { readonly ok: true; readonly variables: JsonObject; readonly memoryBytes: number }
  | { readonly ok: false; readonly error: ScriptError };

/** @returns null if the interpreter disagrees that these expressions are pure, and has not evaluated them */
export function readExpressionAnswer(answer: Buffer, count: number): EvaluationResult | null {
  const { header, lines } = splitAnswer(answer);
  if (header['unproven'] === true) return null;
  if (lines.length > count) throw new MalformedAnswer('more values than expressions');
  const values: Json[] = [];
  for (const [index, line] of lines.entries()) {
    const value = readValue(line);
    if (value instanceof UnstorableValue) return { ok: false, index, error: value.error };
    values.push(value);
  }
  const failed = header['failed'];
  if (failed !== undefined) {
    if (values.length >= count) throw new MalformedAnswer('a failure after the last expression');
    return { ok: false, index: values.length, error: readError(failed) };
  }
  if (values.length !== count)
    throw new MalformedAnswer('the number of values does not match the number of expressions');
  return { ok: true, values };
}

/** @param inputs the inputs of the script; the response only names those that the script left unchanged */
export function readScriptAnswer(answer: Buffer, inputs: JsonObject): ScriptAnswer {
  const { header, lines } = splitAnswer(answer);
  if (header['failed'] !== undefined) return { ok: false, error: readError(header['failed']) };
  const names = readNames(header['names']);
  if (names.length !== lines.length)
    throw new MalformedAnswer('the number of values does not match the number of names');
  const variables: JsonObject = {};
  for (const name of readNames(header['unchanged'])) {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
    if (value === undefined) throw new MalformedAnswer('an unchanged input that does not exist');
    setField(variables, name, value);
  }
  let memoryBytes = 0;
  for (const [index, line] of lines.entries()) {
    const value = readValue(line);
    memoryBytes += memoryCost(line);
    const name = names[index] ?? '';
    if (value instanceof UnstorableValue) return { ok: false, error: nameVariable(name, value) };
    setField(variables, name, value);
  }
  return { ok: true, variables, memoryBytes };
}

function nameVariable(name: string, { error }: UnstorableValue): ScriptError {
  const message = `the variable '${name.slice(0, 200)}' cannot be stored: ${error.message}`;
  return { type: error.type, message };
}

export interface SyntaxAnswer {
  readonly index: number;
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

export function readSyntaxAnswer(answer: Buffer, count: number): readonly SyntaxAnswer[] {
  const { header, lines } = splitAnswer(answer);
  const problems = header['problems'];
  if (!Array.isArray(problems) || lines.length > 0 || problems.length > count) {
    throw new MalformedAnswer('the problems are not a list');
  }
  return problems.map((problem: unknown) => {
    if (!Array.isArray(problem)) throw new MalformedAnswer('a problem is not a list');
    const [index, message, line, column] = problem as unknown[];
    const isPlace = isWholeNumber(index) && index >= 0 && index < count;
    if (!isPlace || typeof message !== 'string') {
      throw new MalformedAnswer('a problem has no position');
    }
    return {
      index,
      message: message.slice(0, MAX_MESSAGE_LENGTH),
      line: isWholeNumber(line) && line > 0 ? line : null,
      column: isWholeNumber(column) && column > 0 ? column : null,
    };
  });
}

function splitAnswer(answer: Buffer): { header: JsonObject; lines: string[] } {
  if (!isUtf8(answer)) throw new MalformedAnswer('the answer is not UTF-8');
  const [first = '', ...lines] = answer.toString('utf8').split('\n');
  const header = readValue(first);
  if (header instanceof UnstorableValue || !isJsonObject(header)) {
    throw new MalformedAnswer('the first line is not an object');
  }
  return { header, lines };
}

class UnstorableValue {
  constructor(readonly error: ScriptError) {}
}

/** @throws MalformedAnswer if it is not JSON */
function readValue(text: string): Json | UnstorableValue {
  const problem = findProblem(text);
  if (problem !== null) return new UnstorableValue(problem);
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof IntegerTooLong) return new UnstorableValue(tooLongInteger(error));
    throw new MalformedAnswer('a line is not JSON', { cause: error });
  }
}

const TOKEN = /["[\]{}]/g;

function findProblem(text: string): ScriptError | null {
  if (text.length <= 2 * MAX_NESTING) return null;
  let depth = 0;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    if (match[0] === '"') {
      TOKEN.lastIndex = endOfString(text, match.index) + 1;
      continue;
    }
    depth += match[0] === '[' || match[0] === '{' ? 1 : -1;
    if (depth > MAX_NESTING) return tooDeep();
  }
  return null;
}

function tooDeep(): ScriptError {
  return {
    type: 'ValueError',
    message: `the value is nested more than ${MAX_NESTING} levels deep`,
  };
}

function tooLongInteger({ message }: IntegerTooLong): ScriptError {
  return { type: 'OverflowError', message };
}

/** The same limits for a value that did not come from an interpreter. */
export function findStorageProblem(value: Json, limitBytes: number): ScriptError | null {
  if (typeof value !== 'object' || value === null) return null;
  const left = remainingBytes(value, limitBytes, MAX_NESTING);
  if (left === TOO_DEEP) return tooDeep();
  if (left < 0) {
    return { type: 'ResultTooLarge', message: `the result is larger than ${limitBytes} bytes` };
  }
  return null;
}

function readError(value: Json): ScriptError {
  if (!isJsonObject(value)) throw new MalformedAnswer('an error is not an object');
  const { type, message, line, traceback } = value;
  if (typeof type !== 'string' || typeof message !== 'string') {
    throw new MalformedAnswer('an error has no type or message');
  }
  return {
    type: type.slice(0, MAX_TYPE_LENGTH),
    message: message.slice(0, MAX_MESSAGE_LENGTH),
    ...(isWholeNumber(line) && line > 0 ? { line } : {}),
    ...(typeof traceback === 'string'
      ? { traceback: traceback.slice(0, MAX_TRACEBACK_LENGTH) }
      : {}),
  };
}

function readNames(value: Json | undefined): readonly string[] {
  if (!Array.isArray(value)) throw new MalformedAnswer('the names are not a list');
  return value.map((name: unknown) => {
    if (typeof name !== 'string') throw new MalformedAnswer('a name is not text');
    return name;
  });
}

function isWholeNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
