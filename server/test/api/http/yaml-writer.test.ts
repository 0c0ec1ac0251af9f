/**
 * Goal: every YAML parser reads our responses as intended.
 * Method: a table of pitfalls, and random values.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DEFAULT_API_LIMITS } from '../../support/default-limits.js';
import { parseYaml } from '../../../src/api/http/yaml-format.js';
import { writeYaml, writeYamlParts } from '../../../src/api/http/yaml-writer.js';
import type { Json } from '../../../src/engine/values/json.js';
import { allParts, LONG_VALUES } from '../../engine/support/long-values.js';
import { propertyRuns } from '../../support/property-runs.js';

/** Strings that some parser misreads, splits or rejects. */
const TRAPS = [
  '',
  ' ',
  'y',
  'No',
  'on',
  'OFF',
  'yes',
  'true',
  'NULL',
  '~',
  'null',
  '<<',
  '=',
  '-',
  '?',
  '!',
  '*a',
  '&a',
  '012',
  'e1',
  'E+5',
  '0o17',
  '0x1F',
  '0b11',
  '1_000',
  '1:30',
  '190:20:30',
  '1:30.5',
  '1e-7',
  '1.0e+3',
  '.5',
  '.inf',
  '.NaN',
  '2026-05-04',
  '2026-05-04T10:20:30Z',
  '2026-05-04 10:20:30.5 +1',
  '+1',
  '-1',
  '18446744073709551615',
  'a: b',
  'a:',
  'a :b',
  'a #b',
  'a#b',
  '#a',
  '- a',
  '? a',
  '---',
  '...',
  '%YAML',
  '@a',
  '`a',
  'a,b',
  '[a]',
  '{a}',
  '"a"',
  "'a'",
  "it's",
  '\\n',
  'a ',
  ' a',
  'a\tb',
  '\ta',
  'a\u00a0b',
  'a\u0085b',
  'a\u2028b',
  'a\u2029b',
  '\ufeffa',
  'a\ufeff',
  'a\u0000',
  'a\u007f',
  'a\u0080',
  'a\ufffe',
  'a\uffff',
  '\ud800',
  'a😀',
  'ä',
  'Ωmega',
  'a\nb',
  'a\nb\n',
  'a\n\nb',
  'a\n\n',
  '\na',
  ' a\nb',
  'a\n b',
  'a\n\tb',
  'a \nb',
  'a\n ',
  'a\r\nb',
  'a\rb',
  '# a\nb',
  '- a\n- b',
  'a: |\n  b',
  '---\na',
  'a\n...\nb',
  'a\u2028b\nc',
  'x'.repeat(3000),
  '\n',
];

function jsonValues(): fc.Arbitrary<Json> {
  const text = fc.oneof(
    fc.constantFrom(...TRAPS),
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom(...Array.from('ab1 \n\t:#-?|>&*\'"%@,[]{}=~.e\u2028\u0085')),
    }),
  );
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.bigInt(2n ** 53n, 10n ** 40n),
    fc.integer({ min: 15, max: 30 }).map((power) => -(10 ** power)),
  );
  return fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      text,
      text,
      number,
      fc.constantFrom<Json>(null, true, false, -0),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;
}

/** Parses with the library, as the given version of YAML. */
function readBack(text: string, version: '1.1' | '1.2'): unknown {
  return parse(text, {
    version,
    intAsBigInt: true,
    logLevel: 'error',
    maxAliasCount: 0,
  }) as unknown;
}

/** Reads every integer as a bigint, as the library does, so that a float that became an integer is noticed. */
function integersAsBigint(value: Json): unknown {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(integersAsBigint);
  const entries = Object.entries(value).map(([key, item]) => [key, integersAsBigint(item)]);
  return Object.fromEntries(entries) as unknown;
}

const UNPRINTABLE = /[^\t\n\x20-\x7e\xa0-\ufefe\uff00-\ufffd]|[\u2028\u2029\ufeff]/;

describe('writeYaml', () => {
  it('writes the same text in parts as at once', { timeout: 120_000 }, () => {
    const property = fc.property(LONG_VALUES, (value) => {
      const text = writeYaml(value);
      expect(allParts(writeYamlParts(value, text.length)).result === text).toBe(true);
      expect(allParts(writeYamlParts(value, text.length / 2 - 2)).result).toBeNull();
    });
    fc.assert(property, propertyRuns(15));
  });

  it('writes idiomatic YAML', () => {
    const value = {
      id: 'order-1',
      version: 2,
      total: 1.5,
      tags: ['new', 'a b', []],
      lines: [{ sku: 'x', count: 1 }, [1, [2]], {}],
      note: 'first line\n\n  second line\n',
      nothing: null,
      left: undefined,
      'two words': { deep: { deeper: true } },
    };
    const lines = [
      'id: order-1',
      'version: 2',
      'total: 1.5',
      'tags:',
      '  - new',
      '  - a b',
      '  - []',
      'lines:',
      '  - sku: x',
      '    count: 1',
      '  -',
      '    - 1',
      '    -',
      '      - 2',
      '  - {}',
      'note: |',
      '  first line',
      '',
      '    second line',
      'nothing: null',
      'two words:',
      '  deep:',
      '    deeper: true',
      '',
    ];
    expect(writeYaml(value)).toBe(lines.join('\n'));
  });

  it.each<[text: string, value: Json]>([
    ['1.0e-7', 1e-7],
    ['-2.5e-9', -2.5e-9],
    ['1.0e+16', 1e16],
    ['-0.0', -0],
    ['18446744073709551616', 1n << 64n],
    ['"1e-7"', '1e-7'],
    ['"="', '='],
    ['"a\\u2028b"', 'a\u2028b'],
    ['"a\\u0085\\u007f\\ufeffb"', 'a\u0085\u007f\ufeffb'],
    ['"2026-05-04"', '2026-05-04'],
    ['[]', []],
    ['{}', {}],
    ['|-\n  a\n  b', 'a\nb'],
  ])('writes %s', (text, value) => {
    expect(writeYaml(value)).toBe(`${text}\n`);
  });

  it('writes the same value for parsers of YAML 1.1 and 1.2, and for the server itself', () => {
    const check = (value: Json) => {
      const text = writeYaml(value);
      expect(text).not.toMatch(UNPRINTABLE);
      expect(parseYaml(text, DEFAULT_API_LIMITS)!.value).toStrictEqual(value);
      for (const version of ['1.1', '1.2'] as const) {
        expect(readBack(text, version), version).toStrictEqual(integersAsBigint(value));
      }
    };
    for (const trap of TRAPS)
      check({ a: trap, list: [trap, [trap], { [trap]: trap }], [trap]: [trap] });
    fc.assert(fc.property(jsonValues(), check), propertyRuns(1000));
  });

  it('repeats a value that occurs twice instead of using an alias, and wraps no lines', () => {
    const shared = { long: 'word '.repeat(60).trim() };
    const text = writeYaml([shared, shared]);
    expect(text).not.toMatch(/[&*]/);
    expect(text.trimEnd().split('\n')).toHaveLength(2);
  });

  it('keeps __proto__', () => {
    expect(writeYaml(JSON.parse('{"__proto__": 1}'))).toBe('__proto__: 1\n');
  });
});
