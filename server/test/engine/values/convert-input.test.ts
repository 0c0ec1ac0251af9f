/**
 * Goal: the values of expressions are converted to what built-in inputs need, or rejected with a message about the
 * expected and the actual value.
 * Method: one table per conversion, and one property over all JSON values.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeValue,
  toBoolean,
  toChoice,
  toDurationMs,
  toList,
  toObject,
  toText,
  toTimeMs,
  type Conversion,
} from '../../../src/engine/values/convert-input.js';
import type { Json } from '../../../src/engine/values/json.js';

const LEVELS = ['Trace', 'Information'] as const;

function checkConverted<T>(
  convert: (value: Json) => Conversion<T>,
  cases: readonly (readonly [Json, T])[],
): void {
  for (const [value, expected] of cases) {
    expect(convert(value), JSON.stringify(value)).toEqual({ ok: true, value: expected });
  }
}

function checkRefused(
  convert: (value: Json) => Conversion<unknown>,
  cases: readonly (readonly [Json, string])[],
): void {
  for (const [value, message] of cases) {
    expect(convert(value), JSON.stringify(value)).toEqual({ ok: false, message });
  }
}

describe('toText', () => {
  it('keeps strings and writes numbers and booleans as in JSON', () => {
    checkConverted(toText, [
      ['', ''],
      ['a', 'a'],
      [5, '5'],
      [5.0, '5'],
      [-0.5, '-0.5'],
      [true, 'true'],
      [false, 'false'],
    ]);
  });

  it('rejects values without a single textual form', () => {
    checkRefused(toText, [
      [null, 'expected a string, but got null'],
      [[], 'expected a string, but got an empty list'],
      [[1], 'expected a string, but got a list of 1 item'],
      [{ a: 1, b: 2 }, 'expected a string, but got an object with 2 fields'],
    ]);
  });
});

describe('toBoolean', () => {
  it('follows the truth value of Python', () => {
    checkConverted(toBoolean, [
      [null, false],
      [false, false],
      [0, false],
      [-0, false],
      ['', false],
      [[], false],
      [{}, false],
      [true, true],
      [0.1, true],
      ['false', true],
      ['0', true],
      [[null], true],
      [{ a: null }, true],
    ]);
  });
});

describe('toTimeMs', () => {
  it('reads times as all APIs do', () => {
    checkConverted(toTimeMs, [
      ['1970-01-01T02:00:00+0200', 0],
      ['2024-02-29T12:30:15.123Z', Date.UTC(2024, 1, 29, 12, 30, 15, 123)],
      ['0001-01-01T00:00:00', -62_135_596_800_000],
    ]);
  });

  it('rejects others with the reason', () => {
    const expected = 'expected a time such as "2030-01-31T12:00:00Z", but got';
    checkRefused(toTimeMs, [
      ['', `${expected} an empty string`],
      ['2023-02-29', `${expected} the string "2023-02-29": February 2023 has 28 days`],
      ['now', `${expected} the string "now"`],
      [0, `${expected} 0`],
      [null, `${expected} null`],
    ]);
  });
});

describe('toDurationMs', () => {
  it('accepts every form of a duration', () => {
    checkConverted(toDurationMs, [
      [5, 5000],
      ['90s', 90_000],
      ['15m', 900_000],
      ['1.5h', 5_400_000],
      ['2D', 172_800_000],
      ['-1h', 0],
      ['00:00:05', 5000],
      ['PT5S', 5000],
    ]);
  });

  it('lists the valid forms in its message', () => {
    checkRefused(toDurationMs, [
      [
        'soon',
        'expected a duration (a number of seconds, "90s", "15m", "1h", "2d", "hh:mm:ss", "d.hh:mm:ss" or an ISO 8601 duration such as "PT5S"; up to 100 years), but got the string "soon"',
      ],
    ]);
  });
});

describe('toList', () => {
  it('accepts lists, and objects as the list of their keys', () => {
    checkConverted<readonly Json[]>(toList, [
      [
        [1, 'a', null],
        [1, 'a', null],
      ],
      [[], []],
      [{ a: 1, b: 2 }, ['a', 'b']],
    ]);
  });

  it('rejects scalars and strings, whose characters are rarely meant as items', () => {
    checkRefused(toList, [
      ['abc', 'expected a list, but got the string "abc"'],
      [5, 'expected a list, but got 5'],
      [null, 'expected a list, but got null'],
    ]);
  });
});

describe('toObject', () => {
  it('accepts only objects', () => {
    checkConverted(toObject, [[{ a: 1 }, { a: 1 }]]);
    checkRefused(toObject, [
      [[1, 2], 'expected an object, but got a list of 2 items'],
      ['a', 'expected an object, but got the string "a"'],
      [null, 'expected an object, but got null'],
    ]);
  });
});

describe('toChoice', () => {
  it('finds the choice in any casing and returns its canonical spelling', () => {
    checkConverted(
      (value) => toChoice(value, LEVELS),
      [
        ['information', 'Information'],
        [' TRACE ', 'Trace'],
      ],
    );
  });

  it('lists the choices in its message', () => {
    checkRefused(
      (value) => toChoice(value, LEVELS),
      [
        ['loud', 'expected one of Trace, Information, but got the string "loud"'],
        [2, 'expected one of Trace, Information, but got 2'],
      ],
    );
  });
});

describe('every conversion', () => {
  const conversions = [
    toText,
    toBoolean,
    toTimeMs,
    toDurationMs,
    toList,
    toObject,
    (value: Json) => toChoice(value, LEVELS),
  ];

  it('returns a value or a short message for any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const convert of conversions) {
          const result = convert(value as Json);
          if (!result.ok) expect(result.message.length).toBeLessThan(250);
        }
      }),
    );
  });

  it('keeps its message short and on one line for very large values', () => {
    const message = describeValue(`a\nb${'x'.repeat(1_000_000)}`);
    expect(message).toBe(`the string "a\\nb${'x'.repeat(57)}"…`);
  });
});
