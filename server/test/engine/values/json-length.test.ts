/** The computed length of values. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeJson } from '../../../src/engine/values/exact-json.js';
import { jsonLength, remainingBytes, TOO_DEEP } from '../../../src/engine/values/json-length.js';
import type { Json } from '../../../src/engine/values/json.js';

describe('the length of a value', () => {
  it('is that of its JSON in UTF-8', () => {
    const lone = fc.constantFrom(
      '\ud83d',
      '\ude00',
      '"',
      '\\',
      '\n',
      '\u007f',
      '漢'.repeat(70),
      'é',
      '😀',
    );
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: fc.oneof(fc.constant('a'), lone) }), (json) => {
        const value = json as Json;
        const bytes = Buffer.byteLength(writeJson(value));
        expect(jsonLength(value)).toBe(bytes);
        expect(remainingBytes(value, bytes)).toBe(0);
        expect(remainingBytes(value, bytes - 1)).toBeLessThan(0);
      }),
    );
    for (const number of [2n ** 70n, -(2n ** 60n), 1e16, -0, 1e-7]) {
      expect(jsonLength([number])).toBe(Buffer.byteLength(writeJson([number])));
    }
  });

  it('is not measured below the maximum depth', () => {
    expect(remainingBytes([{ a: [1] }], 11, 3)).toBe(0);
    expect(remainingBytes([{ a: [1] }], 1000, 2)).toBe(TOO_DEEP);
    expect(remainingBytes({ first: 1, second: [[]] }, 1000, 2)).toBe(TOO_DEEP);
    expect(remainingBytes('text', 6, 0)).toBe(0);
  });

  it('counts shared values each time they occur', () => {
    const text = 'x'.repeat(10_000);
    expect(jsonLength([text, text, text])).toBeGreaterThan(30_000);
    const list = Array.from({ length: 2000 }, (_, index) => `item ${index}`);
    expect(jsonLength([list, list])).toBeGreaterThan(1.9 * jsonLength(list));
  });

  it('stops at the limit, however large the value', () => {
    let value: Json = ['x'];
    for (let times = 0; times < 60; times += 1) value = [value, value];
    expect(remainingBytes(value, 10_000)).toBeLessThan(0);
  });
});
