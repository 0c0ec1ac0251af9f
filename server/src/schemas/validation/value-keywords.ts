/** Keywords about single values: types, choices, numbers and strings. */
import type { Json } from '../../engine/values/json.js';
import { canonical, isMultipleOf, isNumber, type ExactNumber } from './exact-numbers.js';
import type { KeywordCompiler, KeywordTable } from './keyword.js';

export const VALUE_KEYWORDS: KeywordTable = {
  type: (types) => {
    const names = (Array.isArray(types) ? types : [types]) as readonly string[];
    return (value, place, run) =>
      names.some((name) => hasType(value, name)) ||
      run.violate({ keyword: 'type', expected: types, value, place });
  },
  const: (constant) => {
    const text = canonical(constant);
    return (value, place, run) =>
      canonical(value) === text ||
      run.violate({ keyword: 'const', expected: constant, value, place });
  },
  enum: (choices) => {
    const texts = new Set((choices as readonly Json[]).map(canonical));
    return (value, place, run) =>
      texts.has(canonical(value)) ||
      run.violate({ keyword: 'enum', expected: choices, value, place });
  },
  minimum: numbers('minimum', (value, limit) => value >= limit),
  maximum: numbers('maximum', (value, limit) => value <= limit),
  exclusiveMinimum: numbers('exclusiveMinimum', (value, limit) => value > limit),
  exclusiveMaximum: numbers('exclusiveMaximum', (value, limit) => value < limit),
  multipleOf: numbers('multipleOf', isMultipleOf),
  minLength: strings('minLength', (text, limit) => hasCharacters(text, limit)),
  maxLength: strings('maxLength', (text, limit) => !hasCharacters(text, limit + 1)),
  pattern: (source, _, compiler) => {
    const pattern = compiler.pattern(source as string);
    return (value, place, run) =>
      typeof value !== 'string' ||
      pattern.test(value) ||
      run.violate({ keyword: 'pattern', expected: source, value, place });
  },
};

function hasType(value: Json, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'number':
      return isNumber(value);
    case 'integer':
      return typeof value === 'bigint' || Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function numbers(
  keyword: string,
  holds: (value: ExactNumber, limit: ExactNumber) => boolean,
): KeywordCompiler {
  return (limit) => (value, place, run) =>
    !isNumber(value) ||
    holds(value, limit as ExactNumber) ||
    run.violate({ keyword, expected: limit, value, place });
}

function strings(
  keyword: string,
  holds: (text: string, limit: number) => boolean,
): KeywordCompiler {
  return (limit) => (value, place, run) =>
    typeof value !== 'string' ||
    holds(value, Number(limit)) ||
    run.violate({ keyword, expected: limit, value, place });
}

/** Whether a text has at least so many code points. */
function hasCharacters(text: string, least: number): boolean {
  if (text.length < least) return false;
  // Two units at most for each.
  if (text.length >= 2 * least) return true;
  const ends = text.matchAll(/[^]/gu);
  for (let count = 0; count < least; count += 1) if (ends.next().done === true) return false;
  return true;
}
