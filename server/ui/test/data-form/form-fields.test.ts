/** Goal: a JSON Schema becomes fields, and whatever a form cannot show becomes a field for JSON. */
import { describe, expect, test } from 'vitest';
import {
  fromJson,
  isMembers,
  NumberText,
  type DataMembers,
} from '../../src/data-form/data-value.js';
import { readForm, type Field, type ObjectField } from '../../src/data-form/form-fields.js';
import {
  canShow,
  initialMembers,
  newValue,
  othersOf,
  placeMessages,
} from '../../src/data-form/form-values.js';

function formOf(properties: object, rest: object = {}): ObjectField {
  const form = readForm({ type: 'object', properties, ...rest });
  if (form === null) throw new Error('The schema has no form.');
  return form;
}

function fieldOf(schema: unknown, rest: object = {}): Field {
  return formOf({ it: schema }, rest).members[0]!.field;
}

function membersOf(json: object): DataMembers {
  const value = fromJson(json);
  if (!isMembers(value)) throw new Error('The value is not an object.');
  return value;
}

describe('the form of a schema', () => {
  test.each([
    [{ type: 'string' }, { kind: 'text', format: null }],
    [
      { type: 'string', format: 'date' },
      { kind: 'text', format: 'date' },
    ],
    [
      { type: 'string', format: 'date-time' },
      { kind: 'text', format: 'date-time' },
    ],
    [
      { type: 'string', format: 'email' },
      { kind: 'text', format: null },
    ],
    [
      { type: 'string', maxLength: 4000 },
      { kind: 'text', format: 'lines' },
    ],
    [{ type: 'number' }, { kind: 'number', isInteger: false }],
    [
      { type: 'integer', minimum: 1, maximum: 9 },
      { isInteger: true, limits: '1 to 9' },
    ],
    [{ type: 'boolean' }, { kind: 'choice' }],
    [{ type: ['string', 'null'] }, { kind: 'text', isNullable: true }],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, { kind: 'number', isNullable: true }],
    [
      { allOf: [{ type: 'string' }], title: 'Name' },
      { kind: 'text', title: 'Name' },
    ],
    [{ type: 'array', items: { type: 'string' } }, { kind: 'list' }],
    [{ type: 'object', properties: { a: {} } }, { kind: 'object' }],
    [{ properties: { a: {} } }, { kind: 'object' }],
  ])('has a field of the right kind for %j', (schema, field) => {
    expect(fieldOf(schema)).toMatchObject(field);
  });

  test.each([
    [true],
    [{}],
    [{ type: ['string', 'number'] }],
    [{ oneOf: [{ type: 'string' }, { type: 'object' }] }],
    [{ type: 'object', patternProperties: { '^x': {} } }],
    [{ type: 'array' }],
    [{ type: 'array', prefixItems: [{}], items: { type: 'string' } }],
    [{ $ref: '#/$defs/gone' }],
    [{ $ref: 'https://elsewhere.example/schema' }],
    [{ $ref: '#/%zz' }],
    [{ enum: Array.from({ length: 1000 }, (_, at) => at) }],
  ])('has a field for JSON for %j', (schema) => {
    expect(fieldOf(schema).kind).toBe('json');
  });

  test('offers the values of enum, of const and of named branches', () => {
    expect(fieldOf({ enum: ['a', 1, null] })).toMatchObject({
      kind: 'choice',
      isNullable: true,
      choices: [{ label: 'a' }, { label: '1', value: new NumberText('1') }],
    });
    expect(fieldOf({ oneOf: [{ const: 'de', title: 'German' }, { const: 'fr' }] })).toMatchObject({
      choices: [{ label: 'German', value: 'de' }, { label: 'fr' }],
    });
  });

  test('follows references into the schema, but not in circles', () => {
    const $defs = {
      person: {
        type: 'object',
        properties: { name: { type: 'string' }, parent: { $ref: '#/$defs/person' } },
      },
    };
    const field = fieldOf({ $ref: '#/$defs/person', title: 'Buyer' }, { $defs });
    expect(field).toMatchObject({
      kind: 'object',
      title: 'Buyer',
      members: [
        { name: 'name', field: { kind: 'text' } },
        { name: 'parent', field: { kind: 'json' } },
      ],
    });
  });

  test('stays small for a schema whose references multiply', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [
        `d${at}`,
        {
          type: 'object',
          properties: { a: { $ref: `#/$defs/d${at + 1}` }, b: { $ref: `#/$defs/d${at + 1}` } },
        },
      ]),
    );
    const count = (field: Field): number =>
      field.kind === 'object'
        ? field.members.reduce((sum, member) => sum + count(member.field), 1)
        : 1;
    expect(count(fieldOf({ $ref: '#/$defs/d0' }, { $defs }))).toBeLessThan(1000);
  });

  test('is none for a schema that names no members', () => {
    expect(readForm(undefined)).toBeNull();
    expect(readForm(true)).toBeNull();
    expect(readForm({ type: 'object' })).toBeNull();
    expect(readForm({ oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }] })).toBeNull();
  });
});

describe('the value of a form', () => {
  const form = formOf(
    {
      name: { type: 'string' },
      amount: { type: 'number', default: 1.5 },
      kind: { const: 'order' },
      address: {
        type: 'object',
        required: ['city'],
        properties: { city: { type: 'string', default: 'Bern' }, zip: { type: 'string' } },
      },
      lines: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' } } } },
      extra: { type: 'object', properties: { note: { type: 'string', default: 'x' } } },
    },
    { required: ['name', 'kind', 'address', 'lines'] },
  );

  test('starts with defaults, required parts, and values without an alternative', () => {
    expect(initialMembers(form)).toEqual({
      amount: new NumberText('1.5'),
      kind: 'order',
      address: { city: 'Bern' },
      lines: [],
    });
  });

  test('is completed for a new element', () => {
    const list = form.members.find(({ name }) => name === 'lines')!.field;
    expect(list.kind === 'list' && newValue(list.item)).toEqual({});
    expect(newValue(fieldOf({ type: 'string' }))).toBe('');
    expect(newValue(fieldOf({ type: 'number' }))).toMatchObject({ text: '' });
  });

  test('is left to JSON if it has another type', () => {
    const value = fromJson({ it: 'text' });
    expect(canShow(fieldOf({ type: 'number' }), 'text')).toBe(false);
    expect(canShow(fieldOf({ enum: ['a'] }), 'b')).toBe(false);
    expect(canShow(fieldOf({ type: 'array', items: {} }), value)).toBe(false);
    expect(canShow(fieldOf({ type: 'string' }), null)).toBe(false);
    expect(canShow(fieldOf({ type: ['string', 'null'] }), null)).toBe(true);
  });

  test('is kept apart if the schema does not name it', () => {
    expect(othersOf(form, membersOf({ name: 'Ada', __proto__x: 1, more: [] }))).toEqual({
      __proto__x: new NumberText('1'),
      more: [],
    });
  });

  test("gets the server's messages at the innermost field that is shown", () => {
    const value = membersOf({ lines: [{ sku: 1 }], address: { city: 'Bern' } });
    const found = placeMessages(form, value, [
      { pointer: '/name', message: 'is missing' },
      { pointer: '/lines/0/sku', message: 'must be text' },
      { pointer: '/lines/4/sku', message: 'must be text' },
      { pointer: '/extra/note/deep', message: 'is wrong' },
      { pointer: '/unknown', message: 'is not allowed' },
      { pointer: '', message: 'too many members' },
    ]);
    expect(Object.fromEntries(found)).toEqual({
      '/name': ['is missing'],
      '/lines/0/sku': ['must be text'],
      '/lines': ['/lines/4/sku: must be text'],
      '/extra': ['/extra/note/deep: is wrong'],
      '': ['/unknown: is not allowed', 'too many members'],
    });
  });
});
