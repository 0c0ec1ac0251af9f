/**
 * Constants and plain paths (`"text"`, `5`, `data.order.lines[0]`), which most expressions are: answered in the server
 * in about a microsecond, where a message to an interpreter costs sixty.
 *
 * Only what certainly means the same in Python is answered here. Everything else, and every path that does not lead to
 * a value, is left to Python, which also words the error.
 */
import { getField, isJsonObject, type Json, type JsonObject } from '../../engine/json.js';
import type { EvaluationVariables } from '../script-runtime.js';
import { KEYWORDS } from './python-names.js';

export type PlainExpression =
  | { readonly kind: 'constant'; readonly value: Json }
  | { readonly kind: 'path'; readonly variable: PathVariable; readonly keys: readonly PathKey[] };

type PathVariable = 'data' | 'context' | 'environment' | 'step';
type PathKey =
  /** `.name` or `["name"]`: a field of an object. */
  | string
  /** `[0]`, `[-1]`: an element of a list. */
  | number;

const TEXT = /^(?:"([^"\\\n\r]*)"|'([^'\\\n\r]*)')$/;
const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;
const PATH =
  /^(data|context|environment|step)((?:\.[A-Za-z_]\w*|\[(?:"[^"\\\n\r]*"|'[^'\\\n\r]*'|0|-?[1-9]\d{0,8})\])*)$/;
const LINK = /\.(\w+)|\["([^"]*)"\]|\['([^']*)'\]|\[(-?\d+)\]/g;
const NAMED_CONSTANTS = new Map<string, Json>([
  ['True', true],
  ['False', false],
  ['None', null],
]);

/** @param source without padding */
export function readPlainExpression(source: string): PlainExpression | null {
  const text = TEXT.exec(source);
  if (text) return { kind: 'constant', value: text[1] ?? text[2] ?? '' };
  // -0 is an integer in Python and has no sign.
  if (NUMBER.test(source)) return { kind: 'constant', value: Number(source) + 0 };
  const named = NAMED_CONSTANTS.get(source);
  return named === undefined ? readPath(source) : { kind: 'constant', value: named };
}

function readPath(source: string): PlainExpression | null {
  const match = PATH.exec(source);
  if (match === null) return null;
  const keys: PathKey[] = [];
  for (const [, attribute, double, single, index] of (match[2] ?? '').matchAll(LINK)) {
    // Attributes of Python's own objects, and words that cannot be attributes.
    if (attribute !== undefined && (attribute.startsWith('__') || KEYWORDS.has(attribute))) {
      return null;
    }
    keys.push(index === undefined ? (attribute ?? double ?? single ?? '') : Number(index));
  }
  // The pattern lets no other name through.
  return { kind: 'path', variable: match[1] as PathVariable, keys };
}

/** @returns undefined where Python has to answer */
export function evaluatePlain(
  expression: PlainExpression,
  variables: EvaluationVariables,
  environment: JsonObject,
): Json | undefined {
  if (expression.kind === 'constant') return expression.value;
  const { variable, keys } = expression;
  let value: Json | undefined = variable === 'environment' ? environment : variables[variable];
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = readMember(value, key);
  }
  // Whoever asked goes on to change the fields of `data` itself; a value that was read before must not change along.
  if (keys.length === 0 && isJsonObject(value)) return { ...value };
  return value;
}

function readMember(container: readonly Json[] | JsonObject, key: PathKey): Json | undefined {
  if (isList(container)) {
    if (typeof key === 'string') return undefined;
    return container[key < 0 ? container.length + key : key];
  }
  return typeof key === 'string' ? getField(container, key) : undefined;
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
