/**
 * Goal: schemas validate exactly what the draft says, numbers and equality exactly, patterns as in JavaScript (IS1, IS2); each
 * violation is one problem at its place; defaults follow FD1 to FD4.
 * Method: tables of schemas with data and the problems; patterns are compared with JavaScript's own engine.
 */
import { describe, expect, it } from 'vitest';
import { readJson } from '../../../src/engine/values/exact-json.js';
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import { CompiledSchema } from '../../../src/schemas/validation/compiled-schema.js';
import { isMultipleOf } from '../../../src/schemas/validation/exact-numbers.js';
import { linearPattern, patternProblem } from '../../../src/schemas/validation/linear-patterns.js';

/** `code pointer` of each problem of `{ a: data }`, where the schema is that of `a`. */
function problemsOf(schema: string, data: string): string[] {
  const compiled = new CompiledSchema(readJson(`{"properties": {"a": ${schema}}}`));
  const { problems } = compiled.validate(readJson(`{"a": ${data}}`) as JsonObject);
  return problems.map(({ code, pointer }) => `${code} ${pointer}`);
}

describe('CompiledSchema', () => {
  it.each([
    ['{"type": "integer"}', '9007199254740993', []],
    ['{"type": "integer"}', '1.0', []],
    ['{"type": "integer"}', '1.5', ['type /a']],
    ['{"maximum": 9223372036854775807}', '9223372036854775807', []],
    ['{"maximum": 9223372036854775807}', '9223372036854775808', ['maximum /a']],
    ['{"exclusiveMinimum": 9007199254740993}', '9007199254740993', ['exclusive_minimum /a']],
    ['{"const": 9007199254740993}', '9007199254740992', ['const /a']],
    ['{"enum": [9007199254740993, {"b": 1.0, "c": [2]}]}', '{"c": [2], "b": 1}', []],
    ['{"uniqueItems": true}', '[9007199254740992, 9007199254740993]', []],
    ['{"uniqueItems": true}', '[{"x": 1, "y": 2}, {"y": 2, "x": 1.0}]', ['unique_items /a']],
    ['{"uniqueItems": true}', '[1, "1", true, "true", null, 0, false]', []],
    ['{"multipleOf": 0.01}', '19.99', []],
    ['{"multipleOf": 3}', '9007199254740994', ['multiple_of /a']],
    ['{"minLength": 2}', '"😀"', ['min_length /a']],
  ])('validates exactly: %s with %s', (schema, data, problems) => {
    expect(problemsOf(schema, data)).toEqual(problems);
  });

  it.each([
    ['{"required": ["b/c"]}', '{}', ['required /a/b~1c']],
    ['{"items": {"required": ["x"]}}', '[{"x": 1}, {}]', ['required /a/1/x']],
    ['{"dependentRequired": {"b": ["c"]}}', '{"b": 1}', ['dependent_required /a/c']],
    ['{"additionalProperties": false}', '{"b": 1}', ['additional_properties /a/b']],
    ['{"unevaluatedProperties": false}', '{"b": 1}', ['unevaluated_properties /a/b']],
    ['{"propertyNames": {"maxLength": 1}}', '{"bc": 1}', ['max_length /a/bc']],
    ['{"properties": {"b": false}}', '{"b": 1}', ['false_schema /a/b']],
    ['{"if": {"type": "string"}, "then": {"minLength": 3}}', '"x"', ['min_length /a']],
    [
      '{"anyOf": [{"type": "string"}, {"properties": {"b": {"type": "null"}}}]}',
      '{"b": 1}',
      ['any_of /a'],
    ],
    ['{"oneOf": [{"type": "number"}, {"minimum": 1}]}', '2', ['one_of /a']],
    ['{"not": {}, "type": "string"}', '2', ['type /a', 'not /a']],
    ['{"allOf": [{"type": "string"}, {"enum": [1]}]}', '2', ['type /a', 'enum /a']],
    ['{"type": "string", "nullable": true, "$async": true, "id": 5}', 'null', ['type /a']],
    ['{"contains": {"type": "string"}}', '[1]', ['contains /a']],
    ['{"contains": {"type": "string"}, "maxContains": 1}', '["a", "b"]', ['contains /a']],
    ['{"prefixItems": [{}], "items": false}', '[1, 2]', ['items /a']],
    [
      '{"contains": {"type": "string"}, "unevaluatedItems": false}',
      '["x", 1, 2]',
      ['unevaluated_items /a/1', 'unevaluated_items /a/2'],
    ],
    ['{"dependencies": {"b": ["c"], "d": false}}', '{"b": 1}', ['dependencies /a/c']],
    [
      '{"allOf": [{"properties": {"b": {"type": "null"}}}], "unevaluatedProperties": false}',
      '{"b": 1}',
      ['type /a/b'],
    ],
  ])('gives each violation one problem at its place: %s with %s', (schema, data, problems) => {
    expect(problemsOf(schema, data)).toEqual(problems);
  });

  it('keeps a violation beside alternatives that fail', () => {
    const schema = '{"allOf": [{"minLength": 3}, {"anyOf": [{"pattern": "b"}, {"const": 1}]}]}';
    expect(problemsOf(schema, '"a"')).toEqual(['min_length /a', 'any_of /a']);
  });

  it('keeps a violation of a schema that a failed alternative uses, too', () => {
    const shared = (member: string): string =>
      `{"properties": {"${member}": {"$ref": "#/$defs/x"}}}`;
    const alternatives = `{"anyOf": [${shared('b')}, {"oneOf": [{"type": "null"}, ${shared('c')}]}]}`;
    const schema = new CompiledSchema(
      readJson(`{"allOf": [${shared('a')}, ${alternatives}], "$defs": {"x": {"type": "string"}}}`),
    );
    const { problems } = schema.validate({ a: 1, b: 1, c: 1 });
    expect(problems.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'type /a',
      'any_of ',
    ]);
  });

  it.each([
    ['in one place', '{"items": {"allOf": [{"type": "null"}, {"type": "string"}]}}', 400_000],
    ['of names', '{"items": {"propertyNames": false}}', 200_000],
    ['of alternatives', '{"anyOf": [{"items": {"allOf": [false, false]}}, {"type": "null"}]}', 1],
  ])('counts violations %s that it does not keep', (_, schema, count) => {
    const compiled = new CompiledSchema(readJson(`{"properties": {"a": ${schema}}}`));
    const { problems } = compiled.validate({
      a: Array.from({ length: 200_000 }, () => ({ c: 1 })),
    });
    expect(problems).toHaveLength(Math.min(count, 100));
    if (count > 100) expect(problems.at(-1)?.message).toBe(`${count - 99} more are not listed.`);
  });

  it('accepts names that look like code', () => {
    const name = '\\";errors++;errors = vErrors.length;"';
    const schema = new CompiledSchema({ required: [name], properties: { [name]: false } });
    const pointers = (data: JsonObject): unknown =>
      schema.validate(data).problems.map(({ code }) => code);
    expect(pointers({})).toEqual(['required']);
    expect(pointers({ [name]: 1 })).toEqual(['false_schema']);
  });

  it.each<[string, Json, JsonObject, JsonObject]>([
    [
      'in nested objects',
      { properties: { a: { default: {}, properties: { b: { default: 1 } } } } },
      {},
      { a: { b: 1 } },
    ],
    [
      'behind references',
      { properties: { a: { $ref: '#x' } }, $defs: { y: { $anchor: 'x', default: 2 } } },
      {},
      { a: 2 },
    ],
    [
      'of allOf, the first one',
      { allOf: [{ properties: { a: { default: 1 } } }, { properties: { a: { default: 2 } } }] },
      {},
      { a: 1 },
    ],
    ['before required', { required: ['a'], properties: { a: { default: 1 } } }, {}, { a: 1 }],
    [
      'in prefixItems, items and other members',
      {
        properties: {
          l: {
            prefixItems: [{ properties: { a: { default: 1 } } }],
            items: { properties: { b: { default: 2 } } },
          },
        },
        patternProperties: { '^p': { properties: { c: { default: 3 } } } },
        additionalProperties: { properties: { d: { default: 4 } } },
      },
      { l: [{}, {}], p: {}, q: {} },
      { l: [{ a: 1 }, { b: 2 }], p: { c: 3 }, q: { d: 4 } },
    ],
    [
      'never over null, and never of alternatives',
      {
        properties: { a: { default: 1 } },
        anyOf: [{ properties: { b: { default: 2 } } }],
      },
      { a: null },
      { a: null },
    ],
  ])('fills in defaults %s', (_, schema, data, expected) => {
    const { isChanged, problems } = new CompiledSchema(schema).validate(data);
    expect([data, problems]).toEqual([expected, []]);
    expect(isChanged).toBe(!('a' in data && data['a'] === null));
  });

  it('fills in a copy of each default', () => {
    const schema = new CompiledSchema({ properties: { a: { default: [] } } });
    const [first, second]: [JsonObject, JsonObject] = [{}, {}];
    schema.validate(first);
    schema.validate(second);
    (first['a'] as Json[]).push(1);
    expect(second).toEqual({ a: [] });
  });
});

describe('isMultipleOf', () => {
  it.each<[number | bigint, number | bigint, boolean]>([
    [0.3, 0.1, true],
    [1e300, 1e-300, true],
    [0.07, 0.02, false],
    [-4, 2, true],
    [0, 5, true],
    [9_007_199_254_740_993n, 2, false],
  ])('returns for %s of %s: %s', (value, divisor, expected) => {
    expect(isMultipleOf(value, divisor)).toBe(expected);
  });
});

/** White space of JavaScript, and what looks like it, or stands beside it. */
const SPACES = Array.from(
  ' \t\n\v\f\r\u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000\ufeff' +
    'a-\0\u0008\u000e\u001f\u0085\u009f\u00a1\u180e\u1fff\u200b\u2027\u202a\u2060\u2fff\u3001\ufefe\uff00\u{1F432}',
);

describe('linearPattern', () => {
  it.each([
    ['^[A-Z]+-\\d+$', ['A-1', 'a-1', 'A-1\n']],
    ['\\p{Letter}', ['ä', '1']],
    ['^\\p{Script=Greek}+$', ['αβ', 'ab']],
    ['^\\u{1F600}$', ['😀', '😁']],
    ['^\\u00e4\\/$', ['ä/', 'ä']],
    ['^[^]$', ['\n', 'ab']],
    ['(?<year>\\d{4})', ['2026', '26']],
    ['^.$', ['😀', 'a', '']],
    ['\\bfoo\\b', ['a foo b', 'foob']],
    ['^(?:a|b)*?$', ['abab', 'abc']],
    ['^\\s$', SPACES],
    ['^\\S$', SPACES],
    ['^[\\s-]$', SPACES],
    ['^[^\\s]$', SPACES],
    ['^[\\S ]$', SPACES],
    ['^.$', SPACES],
    ['^[.]$', ['.', 'a']],
    ['^[[:alpha:]$', ['a', '[', ':', 'z']],
    ['^[\\b]$', ['\b', 'b']],
    ['^\\uD83D\\uDC32+$', ['\u{1F432}\u{1F432}', 'a']],
    ['^\\p{Math_Symbol}$', ['+', 'a']],
    ['\\\\s', ['\\s', ' ']],
  ])('matches %s as JavaScript does', (pattern, texts) => {
    const own = new RegExp(pattern, 'u');
    for (const text of texts)
      expect([text, linearPattern(pattern).test(text)]).toEqual([text, own.test(text)]);
  });

  it.each([
    ['(?=a)', 'lookahead'],
    ['(?<!a)b', 'lookahead'],
    ['(a)\\1', 'backreferences'],
    ['a{2000}', 'at most 1,000 times'],
    ['(', 'missing closing )'],
  ])('says why %s cannot be used', (pattern, reason) => {
    expect(patternProblem(pattern)).toContain(reason);
  });
});
