/**
 * Goal: the members Input, Index and Tags are read in any casing, and everything that is wrong with them is reported at its
 * place.
 * Method: documents with the parsed members, and a table of invalid ones.
 */
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import { documentWithStep, errorsOf, parseValid, type DocumentCase } from './documents.js';

const MINIMAL = documentWithStep({});

function nested(levels: number): object {
  return levels === 0 ? {} : { not: nested(levels - 1) };
}

function numbered(count: number, value: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));
}

describe('parseDefinition — Input, Index and Tags', () => {
  it.each(['Input/Index/Tags', 'input/index/tags', 'INPUT/iNDEX/taGS'])('reads %s', (names) => {
    const [input = '', index = '', tags = ''] = names.split('/');
    const schema = { type: 'object', Properties: {}, $ref: '#/$defs/a', $defs: { a: true } };
    const parsed = parseDefinition({
      ...MINIMAL,
      [input]: schema,
      [index]: { Customer: ' data.customer.id ', größe: 'data._größe2', ['__proto__']: 'data.p' },
      [tags]: { Team: 'Sales', note: '', ['__proto__']: 'x' },
    });
    expect([parsed.errors, parsed.warnings]).toEqual([[], []]);
    expect(parsed.definition).toMatchObject({ input: schema, tags: { Team: 'Sales', note: '' } });
    expect([...parsed.definition!.index]).toEqual([
      ['Customer', ['customer', 'id']],
      ['größe', ['_größe2']],
      ['__proto__', ['p']],
    ]);
    expect(Object.entries(parsed.definition!.tags)).toContainEqual(['__proto__', 'x']);
    const { canonical } = parsed;
    expect(Object.keys(canonical!)).toEqual(['id', 'input', 'index', 'tags', 'steps']);
    expect(parseValid(canonical)).toEqual(parsed.definition);
  });

  it('counts null members as absent, and keeps boolean schemas', () => {
    expect(parseValid({ ...MINIMAL, Input: null, Index: null, Tags: null })).toMatchObject({
      input: null,
      index: new Map(),
      tags: {},
    });
    expect(parseValid({ ...MINIMAL, Input: false }).input).toBe(false);
  });

  it('accepts as much as the limits allow', () => {
    const text = '𝄞'.repeat(256);
    parseValid({
      ...MINIMAL,
      Input: { description: 'x'.repeat(64 * 1024 - 18), ...nested(0) },
      Index: numbered(16, 'data.a'),
      Tags: { ...numbered(19, text), ['𝄞'.repeat(64)]: text },
    });
    parseValid({ ...MINIMAL, Input: nested(63) });
  });

  it('ignores references outside of schemas', () => {
    parseValid({
      ...MINIMAL,
      Input: {
        const: { $ref: 'https://example.org' },
        default: { $ref: 'other.json' },
        properties: { $ref: { type: 'string' } },
        patternProperties: { $schema: {} },
      },
    });
  });

  const refused: readonly DocumentCase[] = [
    {
      title: 'members of the wrong type',
      document: { ...MINIMAL, Input: 'object', Index: ['data.a'], Tags: 'a:b' },
      found: ['wrong_type /Input', 'wrong_type /Index', 'wrong_type /Tags'],
    },
    {
      title: 'a schema of more than 64 KiB',
      document: { ...MINIMAL, Input: { description: 'x'.repeat(64 * 1024 - 17) } },
      found: ['too_large /Input'],
    },
    {
      title: 'a schema that is nested too deeply',
      document: { ...MINIMAL, input: nested(64) },
      found: ['too_deep /input'],
    },
    {
      title: 'a schema that refers to other documents',
      document: {
        ...MINIMAL,
        Input: {
          $ref: 'https://example.org/order.json',
          properties: { 'a/b': { items: { $dynamicRef: 'other#x' } } },
          allOf: [{}, { $ref: 'other.json#/$defs/a' }],
          $defs: { 'c~d': { $id: 'https://example.com/c', if: { $ref: 'd.json' } } },
        },
      },
      found: [
        'foreign_reference /Input/$ref',
        'foreign_reference /Input/allOf/1/$ref',
        'foreign_reference /Input/properties/a~1b/items/$dynamicRef',
        'foreign_reference /Input/$defs/c~0d/if/$ref',
      ],
    },
    {
      title: 'a schema of another draft',
      document: { ...MINIMAL, Input: { $schema: 'http://json-schema.org/draft-07/schema#' } },
      found: ['invalid_value /Input/$schema'],
    },
    {
      title: 'a schema that is not JSON',
      document: { ...MINIMAL, Input: { minimum: Number.NaN } },
      found: ['invalid_value /Input/minimum'],
    },
    {
      title: 'too many index fields and tags',
      document: { ...MINIMAL, Index: numbered(17, 'data.a'), Tags: numbered(21, 'a') },
      found: ['too_many_entries /Index', 'too_many_entries /Tags'],
    },
    {
      title: 'index paths that are not plain paths',
      document: {
        ...MINIMAL,
        Index: {
          a: 'data',
          b: 'customer.id',
          c: 'data.items[0]',
          d: 'data["a"]',
          e: 'data.a + 1',
          f: 'len(data.a)',
          g: 'data.a.',
          h: 'data..a',
          i: 'data.1a',
          j: `data.${'x'.repeat(500)}`,
          k: 5,
          l: null,
        },
      },
      found: Array.from('abcdefghij')
        .map((name) => `invalid_value /Index/${name}`)
        .concat('wrong_type /Index/k', 'wrong_type /Index/l'),
    },
    {
      title: 'index names that a search cannot contain',
      document: {
        ...MINIMAL,
        Index: {
          'a=b': 'data.a',
          'c!': 'data.a',
          'tag.x': 'data.a',
          ' ': 'data.a',
          'd\u0000': 'data.a',
          ['e'.repeat(65)]: 'data.a',
        },
      },
      found: [
        'invalid_value /Index/a=b',
        'invalid_value /Index/c!',
        'invalid_value /Index/tag.x',
        'invalid_value /Index/ ',
        'invalid_value /Index/d\u0000',
        `invalid_value /Index/${'e'.repeat(65)}`,
      ],
    },
    {
      title: 'invalid tags',
      document: {
        ...MINIMAL,
        Tags: {
          a: 5,
          b: null,
          '': 'x',
          ['c'.repeat(65)]: 'x',
          d: 'x'.repeat(257),
          'e\n': 'x',
          f: 'a\u0000',
          g: '\ud800',
        },
      },
      found: [
        'wrong_type /Tags/a',
        'wrong_type /Tags/b',
        'invalid_value /Tags/',
        `invalid_value /Tags/${'c'.repeat(65)}`,
        'invalid_value /Tags/d',
        'invalid_value /Tags/e\n',
        'invalid_value /Tags/f',
        'invalid_value /Tags/g',
      ],
    },
  ];

  it.each(refused)('rejects $title', ({ document, found, options }) => {
    const parsed = parseDefinition(document, options);
    expect(errorsOf(parsed)).toEqual(found);
    expect(parsed.definition).toBeNull();
    for (const { message } of parsed.errors) expect(message.length).toBeLessThan(400);
  });
});
