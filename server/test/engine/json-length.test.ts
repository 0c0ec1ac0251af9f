/** How long values are taken to be. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonLength, leftOf } from '../../src/engine/json-length.js';
import type { Json } from '../../src/engine/json.js';

describe('the length of a value', () => {
  it('is about that of its JSON, where texts need no escapes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: fc.constantFrom('a', '7', ' ') }), (value) => {
        const { length } = JSON.stringify(value);
        // Numbers have up to 24 digits, a member or item has a comma, a short word is taken for six characters.
        expect(jsonLength(value as Json)).toBeGreaterThan(length / 5 - 2);
        expect(jsonLength(value as Json)).toBeLessThan(4 * length + 8);
      }),
    );
  });

  it('counts what is shared each time', () => {
    const text = 'x'.repeat(10_000);
    expect(jsonLength([text, text, text])).toBeGreaterThan(30_000);
    const list = Array.from({ length: 2000 }, (_, index) => `item ${index}`);
    expect(jsonLength([list, list])).toBeGreaterThan(1.9 * jsonLength(list));
  });

  it('ends as soon as the bound is passed, however large the value would be', () => {
    let value: Json = ['x'];
    for (let times = 0; times < 60; times += 1) value = [value, value];
    expect(leftOf(value, 10_000)).toBeLessThan(0);
  });
});
