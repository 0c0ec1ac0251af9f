/** What the server answers without Python: little, and only what is certain. Agreement with Python is tested beside it. */
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../src/engine/json.js';
import {
  evaluatePlain,
  readPlainExpression,
} from '../../../src/scripts/expressions/plain-expression.js';

const DATA: JsonObject = {
  a: { b: [{ c: 1 }, 'x'], items: 2, _private: 3, __class__: 4 },
  'with space': 5,
  text: 'hello',
  nothing: null,
  constructor: 6,
};

function evaluate(source: string): Json | undefined {
  const plain = readPlainExpression(source);
  if (plain === null) return undefined;
  return evaluatePlain(plain, { data: DATA, context: { Index: 0 } }, { NAME: 'n' });
}

describe('plain expressions', () => {
  it.each<[string, Json]>([
    ['"text"', 'text'],
    ["'te\"xt'", 'te"xt'],
    ['""', ''],
    ['5', 5],
    ['-12.50', -12.5],
    ['-0', 0],
    ['True', true],
    ['False', false],
    ['None', null],
    ['data', DATA],
    ['data.a.b[0].c', 1],
    ['data["a"]["b"][1]', 'x'],
    ["data['with space']", 5],
    ['data.a.b[-2].c', 1],
    ['data.a.items', 2],
    ['data.a._private', 3],
    ['data["a"]["__class__"]', 4],
    ['data.nothing', null],
    ['data.constructor', 6],
    ['context.Index', 0],
    ['environment["NAME"]', 'n'],
  ])('answers %s', (source, expected) => {
    expect(evaluate(source)).toEqual(expected);
  });

  it.each([
    // Not there: Python words the error.
    'data.missing',
    'data.a.missing.more',
    'data["missing"]',
    'data.a.b[2]',
    'data.a.b[-3]',
    'step.x',
    'environment.MISSING',
    'data.toString',
    'context.constructor',
    // There, but something else in Python.
    'data.text[0]',
    'data.text.length',
    'data.a.b.length',
    'data.a.b["0"]',
    'data.a[0]',
    'data.nothing.x',
    'data.a.__class__',
    // Not plain.
    'data.class',
    'data.None',
    'data .a',
    'data.a.b[00]',
    'data.a.b[+0]',
    'data.a["b\\n"]',
    '"a" "b"',
    '"esc\\n"',
    'f"x"',
    '(5)',
    '05',
    '1_000',
    '12345678901234567890',
    '1e5',
    '.5',
    '5.',
    '--1',
    'true',
    'null',
    'x',
    'data.a + 1',
    'data.é',
    '',
  ])('leaves %s to Python', (source) => {
    expect(evaluate(source)).toBeUndefined();
  });
});
