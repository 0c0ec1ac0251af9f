/** Random expressions in and around the part of Python that the server evaluates itself, and data for them. */
import fc from 'fast-check';
import { readJson, writeJson } from '../../../src/engine/values/exact-json.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';

const NAMES = ['a', 'b', 'c', 'items', 'get', 'rows'] as const;
const HOSTILE_NAMES = ['__proto__', 'constructor', 'a b', 'é', '0', 'length', '_x'] as const;

const integer = fc.oneof(
  fc.integer({ min: -12, max: 12 }),
  fc.integer(),
  fc.constantFrom(2 ** 53 - 1, 2 ** 53 - 2, -(2 ** 53) + 1, 2 ** 31, 94_906_267, 1e15),
  fc.constantFrom(2n ** 53n, -(2n ** 53n), 2n ** 53n + 1n, 10n ** 16n, 2n ** 64n, -(10n ** 400n)),
);
const float = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    -0,
    0.1,
    0.2,
    0.5,
    -1.5,
    1e16,
    1e20,
    2 ** 53,
    2 ** 53 + 2,
    1e300,
    1.7e308,
    5e-324,
  ),
);
const text = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'items', '1', 'NaN', 'None', 'true', '__proto__', '0', 'ß'),
  fc.constantFrom('😀', '\ud83d', '\ude00', 'x\ud83d', '\ude00y', '\uffff', '\u0000', '\u2028'),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const scalar = fc.oneof(
  { weight: 3, arbitrary: integer },
  { weight: 2, arbitrary: float },
  { weight: 2, arbitrary: text },
  fc.boolean(),
  fc.constant(null),
);
const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...NAMES) },
  fc.constantFrom(...HOSTILE_NAMES),
);

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 3, arbitrary: scalar },
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map(toObject),
  ),
}));

/** `a`, `b` and `c` usually exist and are usually numbers, so that most paths lead to a value. */
export const plainData: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.tuple(...['a', 'b', 'c', 'a', 'b'].map((key) => fc.tuple(fc.constant(key), scalar))),
    fc.array(fc.tuple(name, value), { maxLength: 4 }),
  )
  .map(([usual, more]) => toObject([...usual, ...more]));

/** The parser treats `__proto__` as an ordinary field. */
export function toObject(entries: readonly (readonly [string, Json])[]): JsonObject {
  const members = entries.map(([key, field]) => `${JSON.stringify(key)}:${writeJson(field)}`);
  return readJson(`{${members.join(',')}}`) as JsonObject;
}

const path = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: name.map((key) => (/^\w+$/.test(key) ? `.${key}` : `['${key}']`)) },
      { weight: 2, arbitrary: name.map((key) => `["${key}"]`) },
      fc.integer({ min: -3, max: 3 }).map((index) => `[${index}]`),
      fc.constantFrom('[data.a]', '[data["b"]]'),
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map((links) => `data${links.join('')}`);

const constant = fc.oneof(
  fc.integer({ min: 0, max: 12 }).map(String),
  fc.constantFrom('0.5', '2.0', '0.1', '999999999999999', '0', '1', 'None', 'True', 'False'),
  fc.constantFrom('""', '"a"', "'items'", '"😀"', "'ß'", '"NaN"', '"#"'),
);
const operand = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('data.a', 'data.b', 'data["c"]', 'data["a"]') },
  { weight: 2, arbitrary: path },
  { weight: 4, arbitrary: constant },
  fc.constantFrom('data', 'len(data)', 'len(data["rows"])', '[1, "a", data.b]', '(1, None)', '[]'),
);
const operator = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('+', '-', '*', '/', '//', '%') },
  { weight: 3, arbitrary: fc.constantFrom('<', '<=', '>', '>=', '==', '!=') },
  { weight: 3, arbitrary: fc.constantFrom('and', 'or') },
  fc.constantFrom('in', 'not in', 'is', 'is not', '**', '<>', '&', 'and not', 'or not', '- -'),
);

/**
 * Rarely with parentheses, so that the precedence of the operators matters. Brackets allow line breaks between any two
 * words.
 */
export const plainSource: fc.Arbitrary<string> = fc.letrec<{ source: string }>((tie) => {
  const source = tie('source');
  return {
    source: fc.oneof(
      { maxDepth: 3, depthSize: 'medium', withCrossShrink: true },
      { weight: 2, arbitrary: operand },
      { weight: 6, arbitrary: fc.tuple(source, operator, source).map((parts) => parts.join(' ')) },
      source.map((inner) => `not ${inner}`),
      source.map((inner) => `-${inner}`),
      source.map((inner) => `(${inner}\n)`),
      source.map((inner) => `len(${inner})`),
      source.map((inner) => `${inner} is not None`),
      fc.tuple(source, source, source).map(([a, b, c]) => `${a} if ${b} else ${c}`),
      fc.tuple(operand, operand, operand).map(([a, b, c]) => `${a} in [${b}, ${c}]`),
    ),
  };
}).source;

/** Words in random order: most of it is not valid Python. */
export const wordSalad: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      operand,
      operator,
      fc.constantFrom(...'( ) [ ] , . - not if else is in None data a len 1'.split(' ')),
      fc.constantFrom('"""', "''", '#', '\\', '\n', ';', ':=', '.5', '1.', '1_0', '1e5', '1if', '0x1', 'f"x"', 'lambda:', '~', '=', '...'),
    ),
    { minLength: 1, maxLength: 7 },
  )
  .map((words) => words.join(' ')); // prettier-ignore
