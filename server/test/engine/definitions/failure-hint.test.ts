/**
 * Goal: code that failed because of a name or field of another language says what to write instead, and other failures
 * stay as they are. Method: a table of errors as Python reports them, with the line that failed.
 */
import { describe, expect, it } from 'vitest';
import { failureHint } from '../../../src/engine/definitions/foreign/failure-hint.js';

function hintFor(message: string, source: string, isScript = true): string {
  const type = message.startsWith('name ') ? 'NameError' : 'AttributeError';
  return failureHint({ type, message, source, isScript });
}

const undefinedName = (name: string): string => `name '${name}' is not defined`;
const missing = (name: string, type = 'list'): string =>
  `'${type}' object has no attribute '${name}'`;

describe('the hint of a failure', () => {
  it.each([
    ['null', 'x = null', '"null" is written "None"'],
    ['true', 'x = [true]', '"true" is written "True"'],
    ['undefined', 'x = y or undefined', '"undefined" is written "None"'],
    ['JSON', 'x = JSON.stringify(y)', '"JSON.stringify" is written "json.dumps"'],
    ['Math', 'x = Math.round(y)', '"Math.round" is written "round"'],
    ['DateTime', 'x = DateTime.Now', '"DateTime.Now" is written "datetime.now(timezone.utc)"'],
    ['parseInt', 'x = parseInt(y)', '"parseInt" is written "int"'],
    ['console', 'console.log(y)', '"console.log(x)" is written "print(x)"'],
    ['data', 'x = data.y', 'give it the value as an input'],
    ['json', 'x = json.dumps(y)', '"import json"'],
    ['Decimal', "x = Decimal('1')", '"from decimal import Decimal"'],
    ['datetime', 'x = datetime.now()', '"from datetime import datetime"'],
    ['datetime', 'x = datetime.datetime.now()', '"import datetime"'],
    ['time', 'x = time.time()', '"import time"'],
  ])('suggests a replacement for the name %s in %s', (name, line, hint) => {
    expect(hintFor(undefinedName(name), line)).toContain(hint);
  });

  it.each([
    [missing('length'), 'n = x.length', '".length" is written "len(…)"'],
    [missing('Count'), 'n = x.Count', '".Count" is written "len(…)"'],
    [missing('push'), 'x.push(1)', '".push(x)" is written ".append(x)"'],
    [missing('map'), 'y = x.map(f)', '"[f(x) for x in items if x]"'],
    [missing('toUpperCase', 'str'), 'y = x.toUpperCase()', '".upper()"'],
    [missing('substring', 'str'), 'y = x.substring(1)', '"x[from:to]"'],
    [missing('includes'), 'y = x.includes(1)', '"x in …"'],
    [missing('y', 'dict'), 'z = json.loads(x).y', 'read with ["y"] or .get("y")'],
    ["there is no field 'hasOwnProperty'", 'y = x.hasOwnProperty("a")', '"x in …"'],
  ])('suggests a replacement: %s', (message, line, hint) => {
    expect(hintFor(message, line)).toContain(hint);
  });

  it.each([
    [undefinedName('total'), 'x = total + 1  # null stays null'],
    [undefinedName('y'), "x = y.get('null') or 'console.log'"],
    ["there is no field 'length'", 'n = x.length'],
    ["there is no field 'count'", 'n = x.count'],
    [missing('foo', 'str'), 'x = y.foo'],
    [missing('foo', 'dict_keys'), 'x = y.foo() if true else null'],
  ])('is left out if nothing of another language is the cause: %s', (message, line) => {
    expect(hintFor(message, line)).toBe('');
  });

  it('does not ask for imports or inputs in an expression', () => {
    expect(hintFor(undefinedName('json'), 'json.dumps(1)', false)).toBe('');
    expect(hintFor(undefinedName('input'), 'input.x', false)).toBe('');
  });

  it('is left out for other errors and for very long lines', () => {
    const source = 'x = null';
    const message = undefinedName('null');
    expect(failureHint({ type: 'ValueError', message, source, isScript: true })).toBe('');
    const long = `${source} + 1${' + 1'.repeat(1000)}`;
    expect(failureHint({ type: 'NameError', message, source: long, isScript: true })).toBe('');
  });
});
