/** Goal: what is indexed is what the docs say: 1,000 elements of a list, 8 KiB of all lists, and nothing else. */
import { describe, expect, it } from 'vitest';
import { indexFieldsOf, type IndexPaths } from '../../../src/engine/values/index-fields.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';

const PATHS: IndexPaths = new Map([
  ['a', ['a']],
  ['b', ['b']],
]);

function countsOf(data: JsonObject): Readonly<Record<string, number>> {
  const fields = Object.entries(indexFieldsOf(data, PATHS));
  return Object.fromEntries(fields.map(([name, value]) => [name, (value as Json[]).length]));
}

function listOf<T extends Json>(length: number, element: (at: number) => T): T[] {
  return Array.from({ length }, (_, at) => element(at));
}

describe('indexFieldsOf', () => {
  it.each<[string, (at: number) => Json, number]>([
    ['numbers', (at) => at, 1000],
    ['negative numbers', (at) => -at, 1000],
    ['booleans', (at) => at % 2 === 0, 1000],
    ['fractions', (at) => at + 0.5, 1000],
    ['short text', (at) => `s${at}`, 1000],
    // 10 digits and a comma: 8,192 bytes with the brackets.
    ['large numbers', (at) => 1_000_000_000 + at, 744],
    ['large integers', (at) => 10n ** 30n + BigInt(at), 255],
    ['text that is long in UTF-8', () => '\u{1f600}'.repeat(100), 20],
    ['text that escapes make long', () => '\n'.repeat(100), 40],
    ['text of 256 characters', () => 'x'.repeat(256), 31],
    ['text of 257 characters', () => 'x'.repeat(257), 0],
    ['objects', () => ({}), 0],
  ])('indexes as many elements as fit: %s', (_, element, count) => {
    expect(countsOf({ a: listOf(1200, element) })).toEqual(count === 0 ? {} : { a: count });
  });

  it('leaves out values that cannot be indexed, and continues', () => {
    const a = [null, 1, 'x'.repeat(300), [2], { b: 3 }, 'y'];
    expect(indexFieldsOf({ a }, PATHS)).toEqual({ a: [1, 'y'] });
  });

  it('counts all lists together', () => {
    const a = listOf(700, (at) => 1_000_000_000 + at);
    const b = listOf(700, (at) => 1_000_000_000 + at);
    expect(countsOf({ a, b })).toEqual({ a: 700, b: 44 });
  });
});
