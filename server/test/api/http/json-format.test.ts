/**
 * JSON bodies: what is accepted, what is rejected, and the position of the error. The error finder is compared with the
 * platform's parser on random texts: both must agree on what is JSON.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_API_LIMITS } from '../../support/default-limits.js';
import { parseJson } from '../../../src/api/http/json-format.js';
import { findSyntaxProblem } from '../../../src/api/http/json-syntax.js';
import { AppError } from '../../../src/base/errors.js';
import { propertyRuns } from '../../support/property-runs.js';

const limits = { ...DEFAULT_API_LIMITS, bodyDepthMax: 5, bodyNodesMax: 20 };

function refusal(text: string): AppError {
  try {
    parseJson(text, limits);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error(`${text} was accepted`);
}

describe('parseJson', () => {
  it.each([
    'null',
    'true',
    '-0.5e-3',
    '"a\\u0041\\n"',
    '[]',
    '{}',
    ' {"a": [1, {"b": null}]} ',
    '9007199254740991',
    '-9007199254740991',
    '1e16',
    '0.1234567890123456789',
    '123456789.123456789123456',
    '1e300',
    '"12345678901234567890"',
    '{"12345678901234567890": 1}',
  ])('accepts %s', (text) => {
    expect(parseJson(text, limits)).toEqual(JSON.parse(text));
  });

  it.each(['9007199254740992', '-12345678901234567890', '9'.repeat(1000)])(
    'returns the integer %s unchanged',
    (text) => {
      expect(parseJson(`{"a": [${text}]}`, limits)).toEqual({ a: [BigInt(text)] });
    },
  );

  it('keeps __proto__ as ordinary own data', () => {
    const value = parseJson('{"__proto__": {"x": 1}}', limits) as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1}}');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it.each([
    [`[1,\n ${'1'.repeat(1001)}]`, 2, 2, `${'1'.repeat(40)}… has more than 1000 digits`],
    [`-${'1'.repeat(1001)}`, 1, 2, 'more than 1000 digits'],
    ['{"a": 1e999}', 1, 7, 'not finite'],
    ['[[[[[[1]]]]]]', 1, 6, 'nested deeper than 5'],
    ['', 1, 1, 'a value is missing'],
    ['{"a": 1,}', 1, 9, 'a member name in double quotes is missing'],
    ["{'a': 1}", 1, 2, 'names and strings need double quotes'],
    ['{a: 1}', 1, 2, 'names and strings need double quotes'],
    ['{"a" 1}', 1, 6, "':' is missing"],
    ['{"a": 1 "b": 2}', 1, 9, "',' or a closing bracket is missing"],
    ['[1 2]', 1, 4, "',' or a closing bracket is missing"],
    ['[1,]', 1, 4, 'a value is missing'],
    ['[1', 1, 3, "it ends too early, ',' or ']' is missing"],
    ['{\n  "a": tru\n}', 2, 8, 'unexpected text'],
    ['"abc', 1, 1, 'no closing quote'],
    ['"a\\xb"', 1, 1, 'unknown escape'],
    ['"a\nb"', 1, 1, 'no closing quote on its line'],
    ['"a\u0001b"', 1, 1, 'control character'],
    ['01', 1, 2, 'more text after the value'],
    ['1 2', 1, 3, 'more text after the value'],
    ['NaN', 1, 1, 'unexpected text'],
  ])('rejects %j at line %i, column %i: %s', (text, line, column, message) => {
    const error = refusal(text);
    expect(error.code).toBe('unreadable_body');
    expect(error.fields).toEqual({ line, column });
    expect(error.message).toContain(message);
  });

  it('counts values at every depth', () => {
    expect(refusal(`[${'1,'.repeat(20)}1]`).message).toContain('more than 20 values');
    expect(refusal('[[],[],[],[],[],[],[],[],[],[],[]]').message).toContain('more than 20 values');
    expect(parseJson(`"${',[{'.repeat(50)}"`, limits)).toHaveLength(150);
  });

  it('checks any 1 MB text in linear time', () => {
    const size = 1024 * 1024;
    const hostile = ['['.repeat(size), '"'.repeat(size), '9'.repeat(size), `"${'\\'.repeat(size)}`];
    for (const text of hostile) {
      const began = process.cpuUsage();
      expect(refusal(text).code).toBe('unreadable_body');
      // CPU time, because the machine may be busy.
      expect(process.cpuUsage(began).user / 1_000).toBeLessThan(500);
    }
  });
});

describe('findSyntaxProblem', () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  it('finds no problem in valid JSON', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        expect(findSyntaxProblem(spaced)).toBeNull();
      }),
    );
  });

  it('finds the same problems as the platform in damaged JSON', () => {
    const marks = fc.constantFrom(...Array.from('{}[],:"\\ 0-+.eEntruu\n\u0001x'));
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 3 }),
        fc.nat(),
        marks,
        fc.boolean(),
        (text, at, mark, cut) => {
          const place = at % (text.length + 1);
          const damaged = text.slice(0, place) + mark + text.slice(cut ? place + 1 : place);
          expect(findSyntaxProblem(damaged) === null).toBe(isJson(damaged));
        },
      ),
      propertyRuns(2_000),
    );
  });

  it('finds the same problems as the platform in any sequence of tokens', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      'true',
      'nul',
      ' ',
      '"',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 8 }), (tokens) => {
        const text = tokens.join('');
        expect(findSyntaxProblem(text) === null).toBe(isJson(text));
      }),
      propertyRuns(5_000),
    );
  });
});
