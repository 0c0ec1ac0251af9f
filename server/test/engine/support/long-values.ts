/** Long values, generated from small ones that are hard to write. */
import fc from 'fast-check';
import { readJson, writeJson } from '../../../src/engine/values/exact-json.js';
import type { Json } from '../../../src/engine/values/json.js';

/** Numbers that need exact writing, characters that need escapes, and names that are special in JavaScript. */
const LEAF = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
  fc.constantFrom<Json>(2n ** 70n, 1e16, -0, 1e-7, 'a"\\\n[{,:', '', [], {}, '\ud800'),
);
const NAME = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '7', '"\\', '{'));

function many(value: Json, count: number): Json[] {
  return Array.from({ length: count }, () => value);
}

/** Set as own fields whatever their names, as the reader does. */
function objectOf(entries: readonly (readonly [string, Json])[]): Json {
  const members = entries.map(([name, value]) => `${JSON.stringify(name)}:${writeJson(value)}`);
  return readJson(`{${members.join(',')}}`);
}

/** Long in one place or in several, at any depth. */
export const LONG_VALUES: fc.Arbitrary<Json> = fc.letrec<{ long: Json; node: Json }>((tie) => ({
  long: fc.oneof(
    LEAF.map((leaf) => many(leaf, 20_000)),
    fc
      .tuple(NAME, LEAF)
      .map(([name, leaf]) =>
        objectOf(Array.from({ length: 8_000 }, (_, at) => [`${name}${at}`, leaf] as const)),
      ),
    fc.constantFrom('x'.repeat(300_000), '"'.repeat(100_000)),
  ),
  node: fc.oneof(
    { maxDepth: 3 },
    tie('long'),
    LEAF,
    fc.array(tie('node'), { maxLength: 4 }),
    fc.array(fc.tuple(NAME, tie('node')), { maxLength: 4 }).map(objectOf),
  ),
})).node;

/** All parts of it, and their number. */
export function allParts<Result>(parts: Generator<undefined, Result>): {
  readonly result: Result;
  readonly count: number;
} {
  for (let count = 1; ; count += 1) {
    const step = parts.next();
    if (step.done === true) return { result: step.value, count };
  }
}
