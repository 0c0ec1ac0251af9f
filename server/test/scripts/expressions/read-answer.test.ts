/** Responses come from a process that ran untrusted code: in any form, they are read, rejected or exposed as forged. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/engine/values/json.js';
import {
  findStorageProblem,
  MalformedAnswer,
  readExpressionAnswer,
  readScriptAnswer,
  readSyntaxAnswer,
} from '../../../src/scripts/expressions/read-answer.js';

const answer = (...lines: string[]): Buffer => Buffer.from(lines.join('\n'));
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('readExpressionAnswer', () => {
  it('reads values', () => {
    const result = readExpressionAnswer(answer('{}', '1', '"a"', '[null]'), 3);
    expect(result).toEqual({ ok: true, values: [1, 'a', [null]] });
  });

  it('reads a failure after some values', () => {
    const failed = '{"failed":{"type":"KeyError","message":"x","line":2,"traceback":"t"}}';
    expect(readExpressionAnswer(answer(failed, '1'), 3)).toEqual({
      ok: false,
      index: 1,
      error: { type: 'KeyError', message: 'x', line: 2, traceback: 't' },
    });
  });

  it('recognizes that the interpreter disagrees with the classification', () => {
    expect(readExpressionAnswer(answer('{"unproven":true}'), 1)).toBeNull();
  });

  it.each([
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['text', 'hello'],
    ['too few values', '{}'],
    ['too many values', '{}\n1\n2\n3'],
    ['a line that is not JSON', '{}\n1\nx'],
    ['two values in a line', '{}\n1\n2 3'],
    ['a failure after the last expression', '{"failed":{"type":"E","message":"m"}}\n1\n2'],
    ['an error that is not an object', '{"failed":1}'],
    ['an error without a message', '{"failed":{"type":"E"}}'],
    ['an error whose type is not a string', '{"failed":{"type":1,"message":"m"}}'],
    ['NaN', '{}\nNaN\n1'],
    ['an infinite number', '{}\n-Infinity\n1'],
  ])('rejects %s', (_, text) => {
    expect(() => readExpressionAnswer(answer(text), 2)).toThrow(MalformedAnswer);
  });

  it('truncates long error fields, and drops an invalid line number', () => {
    const error = {
      type: 'T'.repeat(500),
      message: 'm'.repeat(9999),
      line: -1,
      traceback: 't'.repeat(9999),
    };
    const result = readExpressionAnswer(answer(JSON.stringify({ failed: error })), 1);
    if (result === null || result.ok) throw new Error('no failure');
    expect(result.error.type).toHaveLength(100);
    expect(result.error.message).toHaveLength(4000);
    expect(result.error.traceback).toHaveLength(4096);
    expect(result.error.line).toBeUndefined();
  });

  it('rejects each value that is nested deeper than 90 levels', () => {
    expect(readExpressionAnswer(answer('{}', nested(90)), 1)).toMatchObject({ ok: true });
    expect(readExpressionAnswer(answer('{}', '1', nested(91)), 2)).toMatchObject({
      ok: false,
      index: 1,
    });
    const brackets = JSON.stringify('['.repeat(500));
    expect(readExpressionAnswer(answer('{}', brackets), 1)).toMatchObject({ ok: true });
  });

  it('reads integers of up to 1,000 digits unchanged', () => {
    expect(
      readExpressionAnswer(answer('{}', '9007199254740993', '[-12345678901234567890,1e16]'), 2),
    ).toEqual({ ok: true, values: [9007199254740993n, [-12345678901234567890n, 1e16]] });
    for (const text of ['1'.repeat(1001), `["x",-${'1'.repeat(2_000_000)}]`]) {
      const result = readExpressionAnswer(answer('{}', text), 1);
      expect(result).toMatchObject({ ok: false, index: 0, error: { type: 'OverflowError' } });
    }
    for (const text of [
      '9007199254740991',
      '"9007199254740993"',
      '[":9007199254740993"]',
      '1234567890.12345678901234567',
      '1e300',
    ]) {
      expect(readExpressionAnswer(answer('{}', text), 1)).toEqual({
        ok: true,
        values: [JSON.parse(text)],
      });
    }
  });

  it('reads every JSON value unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value).replace(/[\u0080-\uffff]/g, (letter) => {
          return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
        });
        const rounded = /(?<![\d.])\d{16,}/.test(text);
        if (!rounded) {
          const result = readExpressionAnswer(answer('{}', text), 1);
          expect(result).toEqual({ ok: true, values: [JSON.parse(text)] });
        }
      }),
    );
  });

  it('returns a value or throws MalformedAnswer for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(3), (text, count) => {
        try {
          readExpressionAnswer(answer(text), count);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedAnswer);
        }
      }),
    );
  });
});

describe('the encoding of a response', () => {
  it('is rejected if it is not UTF-8', () => {
    expect(readExpressionAnswer(answer('{}', '"é漢😀\\ud83d"'), 1)).toEqual({
      ok: true,
      values: ['é漢😀\ud83d'],
    });
    const latin = Buffer.from('{}\n"é"', 'latin1');
    expect(() => readExpressionAnswer(latin, 1)).toThrow(MalformedAnswer);
  });
});

describe('readScriptAnswer', () => {
  it('pairs names and values', () => {
    const text = answer('{"names":["a","__proto__"],"unchanged":["given"]}', '1', '{"b":2}');
    const result = readScriptAnswer(text, { given: '漢', other: 2 });
    expect(result).toMatchObject({ ok: true });
    expect(JSON.stringify(result.ok && result.variables)).toBe(
      '{"given":"漢","a":1,"__proto__":{"b":2}}',
    );
  });

  it('names the variable that cannot be stored', () => {
    const text = answer('{"names":["a","b"],"unchanged":[]}', '1', nested(91));
    expect(readScriptAnswer(text, {})).toMatchObject({
      ok: false,
      error: {
        type: 'ValueError',
        message: expect.stringMatching(/'b' cannot be stored.*nested/) as string,
      },
    });
    expect(
      readScriptAnswer(answer('{"names":["c"],"unchanged":[]}', '1'.repeat(1001)), {}),
    ).toMatchObject({
      ok: false,
      error: { type: 'OverflowError', message: expect.stringMatching(/'c'.*digits/) as string },
    });
  });

  it.each([
    '{}',
    '{"names":[]}',
    '{"names":1,"unchanged":[]}',
    '{"names":["a"],"unchanged":[]}',
    '{"names":[1],"unchanged":[]}\n1',
    '{"names":[],"unchanged":["b"]}',
    '{"names":[],"unchanged":["__proto__"]}',
  ])('rejects %s', (text) => {
    expect(() => readScriptAnswer(answer(text), { a: 1 })).toThrow(MalformedAnswer);
  });
});

describe('readSyntaxAnswer', () => {
  it('reads problems', () => {
    expect(readSyntaxAnswer(answer('{"problems":[[1,"bad",2,null]]}'), 2)).toEqual([
      { index: 1, message: 'bad', line: 2, column: null },
    ]);
  });

  it.each([
    '{}',
    '{"problems":{}}',
    '{"problems":[1]}',
    '{"problems":[[2,"m",1,1]]}',
    '{"problems":[[-1,"m",1,1]]}',
    '{"problems":[["0","m",1,1]]}',
    '{"problems":[[0,"m"],[0,"m"],[0,"m"]]}',
    '{"problems":[]}\n1',
  ])('rejects %s', (text) => {
    expect(() => readSyntaxAnswer(answer(text), 2)).toThrow(MalformedAnswer);
  });
});

describe('findStorageProblem', () => {
  it('applies the limits of a response', () => {
    expect(findStorageProblem('x'.repeat(100), 10)).toBeNull();
    expect(findStorageProblem([1, 2, 3], 100)).toBeNull();
    expect(findStorageProblem(['x'.repeat(100)], 100)).toMatchObject({ type: 'ResultTooLarge' });
    expect(findStorageProblem(JSON.parse(nested(90)) as Json, 1000)).toBeNull();
    expect(findStorageProblem(JSON.parse(nested(91)) as Json, 1000)).toMatchObject({
      type: 'ValueError',
    });
  });

  it('follows shared parts', () => {
    let value: Json = ['x'];
    for (let level = 0; level < 60; level += 1) value = [value, value];
    expect(findStorageProblem(value, 1 << 20)).toMatchObject({ type: 'ResultTooLarge' });
  });
});
