/**
 * Goal: numbers survive a round trip through JSON unchanged.
 * Method: tables, and random values compared with the text they were made of.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  exactInteger,
  IntegerTooLong,
  readInteger,
  readJson,
  writeJson,
  writeNumber,
} from '../../../src/engine/values/exact-json.js';
import type { Json } from '../../../src/engine/values/json.js';
import { propertyRuns } from '../../support/property-runs.js';

const DIGITS_1000 = '9'.repeat(1000);

/** Values as in data: integers in their only form, floats of all sizes, unusual keys, strings full of digits. */
function jsonValues(): fc.Arbitrary<Json> {
  const integer = fc.bigInt(-(10n ** 40n), 10n ** 40n).map(exactInteger);
  const nearLimit = fc.bigInt(2n ** 53n - 3n, 2n ** 53n + 3n).map(exactInteger);
  const float = fc.double({ noNaN: true, noDefaultInfinity: true });
  const largeFloat = fc.integer({ min: 15, max: 23 }).map((power) => 10 ** power);
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.bigInt(0n, 10n ** 30n).map((digits) => `x ${digits}, [${digits}] "${digits}"`),
  );
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(null, true, false, 0, -0, 2 ** 53, -(2 ** 53)),
      integer,
      nearLimit,
      integer.map((number) => number),
      float,
      largeFloat,
      text,
      fc.array(tie('value'), { maxLength: 6 }),
      fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'items', '1')), tie('value'), {
        maxKeys: 6,
        noNullPrototype: true,
      }),
    ),
  }));
  return value;
}

describe('readJson', () => {
  it.each<[text: string, value: Json]>([
    ['1', 1],
    ['1.0', 1],
    ['-0', -0],
    ['-0.0', -0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740991', -9007199254740991],
    ['-9007199254740993', -9007199254740993n],
    ['9007199254740992.0', 9007199254740992],
    ['12345678901234567890e0', 12345678901234567890],
    ['1e16', 1e16],
    ['10000000000000000', 10000000000000000n],
    ['0.1234567890123456789', 0.1234567890123456789],
    [' 18446744073709551615 ', 18446744073709551615n],
    ['[18446744073709551615,1]', [18446744073709551615n, 1]],
    ['{"a":{"b":-18446744073709551615}}', { a: { b: -18446744073709551615n } }],
    ['"18446744073709551615"', '18446744073709551615'],
    ['["a, 18446744073709551615",1]', ['a, 18446744073709551615', 1]],
    [DIGITS_1000, BigInt(DIGITS_1000)],
    [`-${DIGITS_1000}`, -BigInt(DIGITS_1000)],
  ])('reads %s', (text, value) => {
    expect(readJson(text)).toStrictEqual(value);
  });

  it('detects a large integer at any position', () => {
    for (let before = 0; before < 40; before += 1) {
      const text = `["${'x'.repeat(before)}",1234567890123456789,0.5]`;
      expect(readJson(text)).toStrictEqual(['x'.repeat(before), 1234567890123456789n, 0.5]);
      const digits = `["${'1'.repeat(before)}",1234567890123456789]`;
      expect(readJson(digits)).toStrictEqual(['1'.repeat(before), 1234567890123456789n]);
    }
  });

  it('rejects an integer by its length, before computing anything', () => {
    const forged = `{"a":${'7'.repeat(2_000_000)}}`;
    const began = process.cpuUsage();
    expect(() => readJson(forged)).toThrow(IntegerTooLong);
    const { user, system } = process.cpuUsage(began);
    // BigInt() alone needs over a second for it.
    expect((user + system) / 1000).toBeLessThan(500);
    expect(() => readJson(`1${DIGITS_1000}`)).toThrow('77777'.replaceAll('7', '9'));
    expect(() => readInteger(`+1${DIGITS_1000}`)).toThrow('more than 1000 digits');
  });

  it('keeps __proto__ as a field', () => {
    const value = readJson('{"__proto__":18446744073709551615}');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(writeJson(value)).toBe('{"__proto__":18446744073709551615}');
  });
});

describe('writeJson', () => {
  it.each<[value: Json, text: string]>([
    [1, '1'],
    [0, '0'],
    [-0, '-0.0'],
    [1e15, '1000000000000000'],
    [1e16, '1e+16'],
    [-1e16, '-1e+16'],
    [2 ** 53, '9.007199254740992e+15'],
    [123456789012345680000, '1.2345678901234568e+20'],
    [1e21, '1e+21'],
    [1e-7, '1e-7'],
    [10n ** 16n, '10000000000000000'],
    [[{ a: [-0, 1n << 64n] }], '[{"a":[-0.0,18446744073709551616]}]'],
    [Infinity, 'null'],
    [[Infinity, 1e16], '[null,1e+16]'],
  ])('writes %s', (value, text) => {
    expect(writeJson(value)).toBe(text);
  });

  it('omits undefined members and indents, in both modes', () => {
    expect(writeJson({ a: undefined, b: 1 })).toBe('{"b":1}');
    expect(writeJson({ a: undefined, b: 1e16 })).toBe('{"b":1e+16}');
    expect(writeJson({ b: [1e16] }, 1)).toBe('{\n "b": [\n  1e+16\n ]\n}');
  });
});

describe('writing and reading JSON', () => {
  it('returns the same value', () => {
    fc.assert(
      fc.property(jsonValues(), (value) => {
        expect(readJson(writeJson(value))).toStrictEqual(value);
      }),
      propertyRuns(3000),
    );
  });

  it('writes floats that every JSON reader reads as the same floats', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = writeNumber(value);
        expect(JSON.parse(text)).toBe(value);
        if (Math.abs(value) >= 2 ** 53 || Object.is(value, -0)) expect(text).toMatch(/[.e]/);
      }),
      propertyRuns(3000),
    );
  });
});
