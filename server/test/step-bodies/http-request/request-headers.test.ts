/** Headers: what is sent, and everything that could end a line or frame the message differently. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { InputError } from '../../../src/engine/primitives/primitive.js';
import { buildRequestHeaders } from '../../../src/step-bodies/http-request/request-headers.js';

const build = (fields: JsonObject, defaults = {}) =>
  Object.fromEntries(buildRequestHeaders(fields, defaults));

describe('buildRequestHeaders', () => {
  it('converts numbers and booleans to strings and drops null', () => {
    expect(build({ 'X-Count': 5, 'X-Flag': true, 'X-None': null, 'X-Text': 'a\tb é' })).toEqual({
      'x-count': '5',
      'x-flag': 'true',
      'x-text': 'a\tb é',
    });
  });

  it('lets the author replace defaults in any casing', () => {
    const defaults = { accept: 'application/json', 'user-agent': 'x' };
    expect(build({ ACCEPT: 'text/csv' }, defaults)).toEqual({
      accept: 'text/csv',
      'user-agent': 'x',
    });
  });

  it.each(['a\r\nX-Evil: 1', 'a\n', '\r', 'a\u0000', '\u007f', 'a\u2028b', 'ö→'])(
    'rejects the value %j',
    (value) => {
      expect(() => build({ 'X-Name': value })).toThrow(InputError);
    },
  );

  it.each([
    'X Name',
    'X:Name',
    '',
    'X\r\nY',
    'X\u0000',
    'Ünicode',
    'X(',
    ':authority',
    '__proto__\n',
  ])('rejects the name %j', (name) => {
    expect(() => build({ [name]: 'x' })).toThrow(InputError);
  });

  it.each([
    'Host',
    'host',
    'Transfer-Encoding',
    'Content-Length',
    'Connection',
    'Upgrade',
    'Expect',
    'TE',
    'Trailer',
    'Keep-Alive',
  ])('reserves %s for the server', (name) => {
    expect(() => build({ [name]: 'x' })).toThrow(/sets this field itself/);
    expect(() => build({ [name]: null })).toThrow(/sets this field itself/);
  });

  it('rejects lists, objects and names that differ only in casing', () => {
    expect(() => build({ A: ['x'] })).toThrow(/a list of 1 item/);
    expect(() => build({ A: { b: 1 } })).toThrow(/an object/);
    expect(() => build({ Abc: 'x', aBC: 'y' })).toThrow(/twice/);
  });

  it('limits the number of headers and their total length', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`X-${i}`, 'x']));
    expect(() => build(many)).toThrow(/at most 100/);
    expect(() => build({ A: 'x'.repeat(10_000), B: 'x'.repeat(10_000) })).toThrow(/in total/);
  });

  it('treats a header named __proto__ like any other', () => {
    const fields: unknown = JSON.parse('{"__proto__": "x"}');
    expect([...buildRequestHeaders(fields as JsonObject, {})]).toEqual([['__proto__', 'x']]);
  });
});
