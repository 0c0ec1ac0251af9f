/**
 * Conditions on tags and index fields as text: `<name><operator><value>`, such as `customer=C-17` or `tag.team!="a b"`.
 *
 * The first operator ends the name. A value that reads as a number, `true` or `false` matches both that value and the same
 * text. A value in double quotes is text, in which \\" and \\\\ are escapes. A value that begins like an operator must be
 * quoted: `total=>700` is rarely meant as the text `>700`.
 */
import { AppError } from '../../base/errors.js';
import { IntegerTooLong, readInteger } from '../../engine/values/exact-json.js';
import type { IndexValue } from '../../engine/values/index-fields.js';
import type { IndexCondition, IndexOperator } from '../../store/records/index-conditions.js';

export const CONDITIONS_MAX = 20;
const LENGTH_MAX = 1000;
/** Prevents a message from repeating a long condition. */
const SHOWN_LENGTH_MAX = 60;

const OPERATOR = /!=|\^=|<=|>=|=|<|>/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?<fraction>\.\d+)?(?<exponent>[eE][+-]?\d+)?$/;
const TAG_PREFIX = 'tag.';
/** Operators of other languages, with the intended ones. */
const MISTAKEN: ReadonlyMap<string, IndexOperator> = new Map([
  ['=>', '>='],
  ['=<', '<='],
  ['==', '='],
  ['===', '='],
  ['<>', '!='],
  ['!==', '!='],
]);
const FORM = 'write <name><operator><value> with one of the operators = != < <= > >= ^=';

/** @throws AppError `invalid_request` that names the condition and the position */
export function parseConditions(texts: readonly string[]): readonly IndexCondition[] {
  if (texts.length > CONDITIONS_MAX) {
    throw invalid(`At most ${CONDITIONS_MAX} conditions are possible, not ${texts.length}`);
  }
  return texts.map((text) => parseCondition(text));
}

/** Reads accepted conditions, perhaps from an earlier version, which didn't reject mistaken operators. */
export function readStoredConditions(texts: readonly string[]): readonly IndexCondition[] {
  return texts.map((text) => parseCondition(text, true));
}

function parseCondition(text: string, isStored = false): IndexCondition {
  if (text.length > LENGTH_MAX) {
    throw refused(text, `it has more than ${LENGTH_MAX} characters`);
  }
  const found = OPERATOR.exec(text);
  if (found === null) throw refused(text, `it has no operator: ${FORM}`);
  const named = text.slice(0, found.index);
  const isTag = named.startsWith(TAG_PREFIX);
  const name = isTag ? named.slice(TAG_PREFIX.length) : named;
  if (name === '') throw refused(text, `the name before ${found[0]} is missing: ${FORM}`);
  // The expression matches nothing else.
  const operator = found[0] as IndexOperator;
  const valueAt = found.index + operator.length;
  if (!isStored) checkOperator(text, found.index, operator);
  const values = parseValue(text, valueAt, operator);
  return { of: isTag ? 'tag' : 'field', name, operator, values };
}

/** @throws AppError `invalid_request` if the value begins like an operator */
function checkOperator(text: string, at: number, operator: IndexOperator): void {
  const value = text.slice(at + operator.length);
  const [more] = /^[<>=]+/.exec(value) ?? [];
  if (more === undefined) return;
  const written = operator + more;
  const meant = MISTAKEN.get(written);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  throw refused(
    text,
    `${written.slice(0, 10)} isn't an operator.${hint} Write a value that begins with ${value.charAt(0)} in double quotes`,
  );
}

function parseValue(text: string, at: number, operator: IndexOperator): readonly IndexValue[] {
  const value = text.slice(at);
  if (value === '') {
    throw refused(text, `the value after ${operator} is missing; write "" for the empty text`);
  }
  if (value.startsWith('"')) return [parseQuoted(text, at)];
  return operator === '^=' ? [value] : readings(value);
}

/** The values that a text can be read as, one per type. */
export function readings(value: string): readonly IndexValue[] {
  if (value === 'true' || value === 'false') return [value === 'true', value];
  const number = NUMBER.exec(value);
  if (number === null) return [value];
  const isInteger =
    number.groups?.['fraction'] === undefined && number.groups?.['exponent'] === undefined;
  try {
    return [isInteger ? readInteger(value) : Number(value), value];
  } catch (error) {
    // Numbers in the data are never that long.
    if (error instanceof IntegerTooLong) return [value];
    throw error;
  }
}

function parseQuoted(text: string, start: number): string {
  let value = '';
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '"') {
      if (at === text.length - 1) return value;
      throw refused(text, `text follows the closing quote at character ${at + 1}`);
    }
    if (character !== '\\') {
      value += character;
      continue;
    }
    at += 1;
    const escaped = text.charAt(at);
    if (escaped !== '"' && escaped !== '\\') {
      throw refused(text, `only \\" and \\\\ are escapes, at character ${at}`);
    }
    value += escaped;
  }
  throw refused(text, `the quote at character ${start + 1} is not closed`);
}

function refused(text: string, problem: string): AppError {
  const isLong = text.length > SHOWN_LENGTH_MAX;
  const shown = isLong ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
  return invalid(`The condition ${JSON.stringify(shown)} is invalid: ${problem}`);
}

function invalid(message: string): AppError {
  return new AppError('invalid_request', message, { parameter: 'where' });
}
