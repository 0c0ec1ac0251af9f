/**
 * Input values: which parts of a document are Python expressions, and which are literals.
 *
 *  IV1 A string is an expression; a number, boolean, null or list is a constant. An empty string is a constant too.
 *  IV2 A map is literal except for keys that start with `@`: the `@` is removed, and their strings are expressions, at
 *      every depth.
 *  IV3 A value without expressions becomes one constant, so that evaluating it costs nothing.
 */
import { quoteText } from '../values/convert-input.js';
import type { InputValue } from '../model/input-value.js';
import { EXPRESSION_TOO_LONG, isExpressionTooLong } from '../values/expression-length.js';
import { isJsonObject, setField, type Json, type JsonObject } from '../values/json.js';
import { childPointer } from './json-pointer.js';
import type { ExpressionUse, ParseState } from './parse-state.js';

/** Deeper values would overflow the stack elsewhere, in databases and in Python's own converters. */
const MAX_VALUE_DEPTH = 64;

const NULL_VALUE: InputValue = { kind: 'constant', value: null };
const EMPTY_TEXT: InputValue = { kind: 'constant', value: '' };

/** The position of a value, and the use of its expressions. */
export interface ValuePlace {
  readonly pointer: string;
  readonly use: ExpressionUse;
}

export function parseInputValue(value: unknown, place: ValuePlace, state: ParseState): InputValue {
  if (!state.admitValues(1, place.pointer)) return NULL_VALUE;
  if (typeof value === 'string') return parseExpression(value, place, state);
  return parseLiteral(value, { ...place, depth: 0 }, state);
}

/** The content of an expression that is nothing but a plain string literal, such as `'PT5S'`; otherwise null. */
export function quotedText(expression: string): string | null {
  const match = /^(?:'([^'\\\n]*)'|"([^"\\\n]*)")$/.exec(expression);
  return match === null ? null : (match[1] ?? match[2] ?? null);
}

function parseExpression(text: string, place: ValuePlace, state: ParseState): InputValue {
  const source = text.trim();
  if (source === '') return EMPTY_TEXT;
  if (!state.isStored && isExpressionTooLong(source)) {
    state.errors.add('expression_too_long', place.pointer, EXPRESSION_TOO_LONG);
    return NULL_VALUE;
  }
  state.expressions.push({ source, pointer: place.pointer, use: place.use });
  return { kind: 'expression', source };
}

interface LiteralPlace extends ValuePlace {
  readonly depth: number;
  readonly isListItem?: boolean;
}

/** A value in which strings are literals. */
function parseLiteral(value: unknown, place: LiteralPlace, state: ParseState): InputValue {
  if (typeof value === 'string') return parseText(value, place, state);
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') {
    // Scalars are JSON values.
    return { kind: 'constant', value: value as Json };
  }
  if (typeof value === 'number') return parseNumber(value, place, state);
  if (typeof value !== 'object') {
    state.errors.add('wrong_type', place.pointer, `A ${typeof value} is not a JSON value.`);
    return NULL_VALUE;
  }
  if (place.depth >= MAX_VALUE_DEPTH) {
    const message = `Values can be nested at most ${MAX_VALUE_DEPTH} levels deep.`;
    state.errors.add('too_deep', place.pointer, message);
    return NULL_VALUE;
  }
  return isJsonObject(value) ? parseMap(value, place, state) : parseList(value, place, state);
}

/** A variable with a member: rare in plain text, and almost always an expression. */
const MAYBE_EXPRESSION = /\b(?:data|context|environment|step)(?:\.[A-Za-z_]|\[)/;

function parseText(text: string, place: LiteralPlace, state: ParseState): InputValue {
  if (MAYBE_EXPRESSION.test(text)) {
    const { isListItem = false, pointer } = place;
    state.literalTexts.push({ text, pointer, isListItem });
  }
  return { kind: 'constant', value: text };
}

function parseNumber(value: number, place: ValuePlace, state: ParseState): InputValue {
  if (!Number.isFinite(value)) {
    const message = `Numbers must be finite; ${value} cannot be stored as JSON.`;
    state.errors.add('invalid_value', place.pointer, message);
    return NULL_VALUE;
  }
  return { kind: 'constant', value };
}

function parseList(value: object, place: LiteralPlace, state: ParseState): InputValue {
  const items: InputValue[] = [];
  const constants: Json[] = [];
  if (!state.admitMembers(Object.keys(value), place.pointer)) return NULL_VALUE;
  for (const [index, item] of Object.entries(value)) {
    const pointer = childPointer(place.pointer, index);
    const itemPlace = { use: place.use, pointer, depth: place.depth + 1, isListItem: true };
    const parsed = parseLiteral(item, itemPlace, state);
    items.push(parsed);
    if (parsed.kind === 'constant') constants.push(parsed.value);
  }
  return constants.length === items.length
    ? { kind: 'constant', value: constants }
    : { kind: 'list', items };
}

function parseMap(source: JsonObject, place: LiteralPlace, state: ParseState): InputValue {
  const fields = new Map<string, InputValue>();
  const constants: JsonObject = {};
  let isConstant = true;
  if (!state.admitMembers(Object.keys(source), place.pointer)) return NULL_VALUE;
  for (const [key, value] of Object.entries(source)) {
    const pointer = childPointer(place.pointer, key);
    const isEvaluated = key.startsWith('@');
    const name = isEvaluated ? key.slice(1) : key;
    if (isEvaluated && name === '') {
      state.errors.add('invalid_value', pointer, '"@" must be followed by the name of the field.');
    }
    if (fields.has(name)) {
      const message = `The field ${quoteText(name)} is given twice, with and without "@".`;
      state.errors.add('duplicate_member', pointer, message);
    }
    // Built without a spread, because a document may have 50,000 of these.
    const fieldPlace = { use: place.use, pointer, depth: place.depth + 1 };
    const parsed = isEvaluated
      ? parseEvaluated(value, fieldPlace, state)
      : parseLiteral(value, fieldPlace, state);
    fields.set(name, parsed);
    if (parsed.kind === 'constant') setField(constants, name, parsed.value);
    else isConstant = false;
  }
  return isConstant
    ? { kind: 'constant', value: constants }
    : { kind: 'graph', fields: [...fields] };
}

/** The value of a key with `@`. Only strings are evaluated; in a nested map, its own keys decide. */
function parseEvaluated(value: unknown, place: LiteralPlace, state: ParseState): InputValue {
  if (typeof value === 'string') return parseExpression(value, place, state);
  if (Array.isArray(value)) {
    const message =
      'The items of a list are constants. For a computed list, write one expression, for example "[data.a, data.b]".';
    state.warnings.add('not_evaluated', place.pointer, message);
  }
  return parseLiteral(value, place, state);
}
