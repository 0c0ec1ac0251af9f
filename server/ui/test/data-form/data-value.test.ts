/** Goal: start data survive every way through the form, JSON and YAML, to the last digit. */
import { stringifyJson } from '@stepwright/sdk';
import { describe, expect, test } from 'vitest';
import { dataProblem, dataText, readData } from '../../src/data-form/data-text.js';
import {
  Draft,
  draftsIn,
  isMembers,
  NumberText,
  parseData,
  readNumber,
  toJson,
  withMember,
  writeData,
} from '../../src/data-form/data-value.js';

const EXACT = [
  '{"integer":12345678901234567890,"negative":-7}',
  '{"float":1.0,"exponent":1e+16,"small":1.50e-7,"zero":-0.0}',
  '{"text":"1.0","odd":"a\\"b\\n\\u2028","empty":""}',
  '{"__proto__":{"a":1},"constructor":null,"a/b~c":[[],{},[null,true,false]]}',
];

/** JSON as it leaves the page: the SDK writes the value that the form gives it. */
const sent = (text: string): string => stringifyJson(toJson(readData(text, 'json')));

describe('the start data', () => {
  test.each(EXACT)('leaves the page as it was written in JSON: %s', (text) => {
    expect(sent(text)).toBe(text.replaceAll('\\u2028', '\u2028'));
  });

  test.each(EXACT)('stays the same after conversion to YAML and back: %s', (text) => {
    const yaml = dataText(readData(text, 'json'), 'yaml');
    const numbers = (json: string): string => json.replace('1.50e-7', '1.5e-7');
    expect(numbers(stringifyJson(toJson(readData(yaml, 'yaml'))))).toBe(
      numbers(text.replaceAll('\\u2028', '\u2028')),
    );
  });

  test('keeps floats and large integers that are written in YAML', () => {
    const value = readData('a: 1.0\nb: 12345678901234567890\nc: 1e3\nd: .5\ne: 0x10\n', 'yaml');
    expect(writeData(value).replaceAll(/\s/g, '')).toBe(
      '{"a":1.0,"b":12345678901234567890,"c":1e3,"d":0.5,"e":16}',
    );
  });

  test.each([
    ['[1]', 'json', 'The data must be an object with named members.'],
    ['text', 'yaml', 'The data must be an object with named members.'],
    ['{"a": }', 'json', /^Not valid JSON: /],
    ['a: [1', 'yaml', /^Invalid YAML: /],
    ['a: .inf', 'yaml', '.inf is not a number in JSON.'],
    [`{"a": ${'['.repeat(300)}${']'.repeat(300)}}`, 'json', /nested more than 200 levels/],
  ] as const)('gets an explanation if it is unreadable: %s', (text, format, message) => {
    expect(dataProblem(text, format)).toMatch(message);
  });

  test('is the empty object if the text is empty', () => {
    expect(readData('  \n', 'json')).toEqual({});
    expect(dataProblem('', 'yaml')).toBeNull();
  });

  test('loses a member that is cleared, and no other', () => {
    const value = parseData('{"a": 1, "__proto__": 2, "b": 3}');
    if (!isMembers(value)) throw new Error('The value is not an object.');
    expect(writeData(withMember(value, 'a', undefined)).replaceAll(/\s/g, '')).toBe(
      '{"__proto__":2,"b":3}',
    );
  });
});

describe('a number in a field', () => {
  test.each(['0', '-1', '12345678901234567890', '5.0'])('accepts the integer %s', (text) => {
    expect(readNumber(text, true)).toEqual(new NumberText(text));
  });

  test.each(['', '-', '1.5', '1e3', '0x1', '01', 'abc'])('rejects the integer "%s"', (text) => {
    expect(readNumber(text, true)).toBeInstanceOf(Draft);
  });

  test('stays text at its place while it is not finished', () => {
    const value = { lines: [{ price: readNumber('1.', false) }] };
    expect(writeData(value).replaceAll(/\s/g, '')).toBe('{"lines":[{"price":1.}]}');
    expect(draftsIn(value)).toEqual([
      { pointer: '/lines/0/price', message: 'Enter a number, such as 9.5.' },
    ]);
    expect(() => toJson(value)).toThrow('Enter a number');
  });
});
