/** YAML bodies: the core schema of YAML 1.2 and nothing unsafe. */
import fc from 'fast-check';
import { stringify } from 'yaml';
import { describe, expect, it } from 'vitest';
import type { ApiLimits } from '../../../src/api/http/api-limits.js';
import { DEFAULT_API_LIMITS } from '../../support/default-limits.js';
import { parseYaml } from '../../../src/api/http/yaml-format.js';
import { AppError } from '../../../src/base/errors.js';
import { propertyRuns } from '../../support/property-runs.js';

function read(text: string, limits: ApiLimits = DEFAULT_API_LIMITS): unknown {
  return parseYaml(text, limits)?.value;
}

function refusal(text: string, limits: ApiLimits = DEFAULT_API_LIMITS): AppError {
  try {
    parseYaml(text, limits);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the document was accepted');
}

describe('parseYaml', () => {
  it.each([
    ['5', 5],
    ['-1.5e3', -1500],
    ['0x1F', 31],
    ['0o17', 15],
    ['017', 17],
    ['1_000', '1_000'],
    ['true', true],
    ['yes', 'yes'],
    ['~', null],
    ['text', 'text'],
    ["'5'", '5'],
    ['!!str 5', '5'],
    ['!!int "5"', 5],
    ['2026-05-04', '2026-05-04'],
    ['2026-05-04T10:20:30Z', '2026-05-04T10:20:30Z'],
    ['- 1\n- [a, {b: c}]', [1, ['a', { b: 'c' }]]],
    ['a: |\n  x\n  y\n', { a: 'x\ny\n' }],
    ['a: >-\n  x\n  y\n', { a: 'x y' }],
    ['1: a\ntrue: b\n1.50: c', { '1': 'a', true: 'b', '1.50': 'c' }],
    ['<<: {a: 1}', { a: 1 }],
    ['"<<": {a: 1}', { '<<': { a: 1 } }],
    ['<<: 1', { '<<': 1 }],
    ['<<: []', { '<<': [] }],
    ['<<:', { '<<': null }],
    ['a: &x {b: 1, c: 2}\nd: {c: 3, <<: *x}', { a: { b: 1, c: 2 }, d: { c: 3, b: 1 } }],
    ['a: &x {b: 1}\nd: {<<: *x, b: 2}', { a: { b: 1 }, d: { b: 2 } }],
    [
      'a: &x {k: 1}\nb: &y {k: 2, l: 2}\nc: {<<: [*x, *y]}',
      { a: { k: 1 }, b: { k: 2, l: 2 }, c: { k: 1, l: 2 } },
    ],
    [
      'a: &x {k: 1}\nb: &y {<<: *x, l: 2}\nc: {<<: *y}',
      { a: { k: 1 }, b: { l: 2, k: 1 }, c: { l: 2, k: 1 } },
    ],
    [
      'a: &x {__proto__: 1}\nb: {<<: *x}',
      JSON.parse('{"a": {"__proto__": 1}, "b": {"__proto__": 1}}') as unknown,
    ],
    ['%YAML 1.1\n---\nyes', 'yes'],
    ['--- 1\n...\n', 1],
    ['a: &x [1]\nb: *x', { a: [1], b: [1] }],
    ['a: &x 1\nb: &x 2\nc: *x', { a: 1, b: 2, c: 2 }],
    ['a: &x 1\nb: &y [*x]\nc: &x 2\nd: *y', { a: 1, b: [1], c: 2, d: [1] }],
    ['&k a: 1\nb: *k', { a: 1, b: 'a' }],
    ['---\n', null],
    ['"@Key": data.a', { '@Key': 'data.a' }],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['+9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['!!int "9007199254740993"', 9007199254740993n],
    ['0x20000000000001', 9007199254740993n],
    ['0o777777777777777777777', 9223372036854775807n],
    ['9'.repeat(1000), BigInt('9'.repeat(1000))],
    ['9007199254740992.0', 9007199254740992],
    ['1e16', 1e16],
    ['-0.0', -0],
  ])('reads %j', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  it.each(['', '\n', '# nothing\n', '\uFEFF'])('rejects %j as empty', (text) => {
    expect(parseYaml(text, DEFAULT_API_LIMITS)).toBeNull();
  });

  it('keeps __proto__ and similar names as ordinary own data', () => {
    const value = read('__proto__: {x: 1}\nconstructor: {prototype: {x: 1}}') as object;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it.each([
    ['&a key: 1\n*a : 2', 'given twice'],
    ['a: &x [1]\nb: {*x : 1}', 'must be strings'],
    ['*x : 1', 'No anchor &x'],
  ])('refuses %j: an alias as a key %s', (text, message) => {
    expect(refusal(text).message).toContain(message);
  });

  it.each([
    ['a: &x name\n*x : 1', { a: 'name', name: 1 }],
    ['&x name: 1\nb: {*x : 2}', { name: 1, b: { name: 2 } }],
    ['a: &x 010\n? *x\n: 2', { a: 10, '010': 2 }],
    ['a: &x null\nb: [*x : 2]', { a: null, b: [{ null: 2 }] }],
  ])('reads an alias as a key: %j', (text, value) => {
    expect(read(text)).toEqual(value);
  });

  it('finds the place of a key that is an alias', () => {
    const { locator } = parseYaml('a: &x name\n*x : {b: 1}', DEFAULT_API_LIMITS)!;
    expect(locator()('/name/b')).toEqual({ line: 2, column: 10 });
  });

  it('expands an alias to a copy of the value', () => {
    const value = read('a: &x {n: 1}\nb: *x') as { a: { n: number }; b: { n: number } };
    value.a.n = 2;
    expect(value.b.n).toBe(1);
  });

  it.each([
    ['a: 1\na: 2', 2, 1, 'given twice'],
    ['a: &x {b: 1}\nc:\n  <<: *x\n  <<: *x', 4, 3, 'given twice'],
    ['__proto__: 1\n__proto__: 2', 2, 1, 'given twice'],
    ['a: 1\nb: [1,\n  {c: 1, c: 2}]', 3, 10, 'given twice'],
    ['a: !!js/function x', 1, 4, 'tag'],
    ['a: !!binary aGk=', 1, 4, 'tag'],
    ['a: !!timestamp 2026-05-04', 1, 4, 'tag'],
    ['a: !!set {b}', 1, 4, 'tag'],
    ['a: !own x', 1, 4, 'tag'],
    ['a: !own {b: 1}', 1, 4, 'tag'],
    ['a: !!int x', 1, 4, 'tag'],
    ['%TAG ! tag:x,2026:\n---\na: 1', 1, 1, 'YAML directive'],
    ['a: 1\n---\nb: 2', 2, 1, 'more than one YAML document'],
    ['--- 1\n--- 2', 2, 1, 'more than one YAML document'],
    ['a: .nan', 1, 4, 'not finite'],
    ['a: .inf', 1, 4, 'not finite'],
    ['a: 1e999', 1, 4, 'not finite'],
    [`a: ${'1'.repeat(1001)}`, 1, 4, `${'1'.repeat(40)}… has more than 1000 digits`],
    [`a: 0x${'F'.repeat(2000)}`, 1, 4, 'not finite'],
    ['a: *nope', 1, 4, 'No anchor &nope'],
    ['a: &x [*x]', 1, 7, 'nested deeper'],
    ['[a]: 1', 1, 1, 'map keys must be strings'],
    ['? {a: 1}\n: 1', 1, 3, 'map keys must be strings'],
    ['a: [1', 1, 6, 'Invalid YAML'],
    ['a: "x', 1, 6, 'Invalid YAML'],
    ['a:\n\t- 1', 2, 1, 'Invalid YAML'],
    ['a: b: c', 1, 4, 'Invalid YAML'],
    ['a: [1] 2', 1, 8, 'Invalid YAML'],
    ['a: @x', 1, 4, 'Invalid YAML'],
  ])('rejects %j at line %i, column %i: %s', (text, line, column, message) => {
    const error = refusal(text);
    expect(error.code).toBe('unreadable_body');
    expect(error.message).toContain(message);
    expect(error.fields).toEqual({ line, column });
  });

  it('stops alias bombs early', () => {
    const names = Array.from('abcdefghi');
    const laughs = names.map((name, index) => {
      const inside = index === 0 ? '"lol"' : `*${names[index - 1]!}`;
      return `${name}: &${name} [${Array(9).fill(inside).join(',')}]`;
    });
    const size = 250_000;
    const bombs = [
      laughs.join('\n'),
      '['.repeat(size),
      '{a: '.repeat(size / 4),
      '- '.repeat(size / 2),
      '? '.repeat(size / 2),
      '[]'.repeat(size / 2),
      '"'.repeat(size),
      "['".repeat(size / 2),
      '*x '.repeat(size / 3),
      '? {\\\n'.repeat(size / 5),
      '&a '.repeat(size / 3),
      '!!str '.repeat(size / 6),
      '---\n'.repeat(size / 4),
      '%A b\n'.repeat(size / 5),
      'a: 1\n'.repeat(size / 5),
      `x: &x y\n${'*x : 1\n'.repeat(size / 7)}`,
      '&a [*a, *a]',
      '9'.repeat(size),
      `a: &a [${'1,'.repeat(5_000)}]\nb: [${'*a,'.repeat(99)}]`,
    ];
    for (const bomb of bombs) {
      const began = process.cpuUsage();
      expect(refusal(bomb).code, bomb.slice(0, 20)).toBe('unreadable_body');
      // CPU time, because the machine may be busy.
      const { user, system } = process.cpuUsage(began);
      expect((user + system) / 1_000, bomb.slice(0, 20)).toBeLessThan(1_000);
    }
  });

  it('counts aliases, values and depth after expansion', () => {
    const limits = { ...DEFAULT_API_LIMITS, bodyNodesMax: 10, bodyDepthMax: 3, yamlAliasesMax: 2 };
    expect(refusal('a: &x 1\nb: [*x, *x, *x]', limits).message).toContain('More than 2 aliases');
    expect(refusal('a: &x [1,2,3]\nb: [*x, *x]', limits).message).toContain('more than 10 values');
    expect(refusal('a: &x [[1]]\nb: [*x]', limits).message).toContain('deeper than 3 levels');
    expect(read('a: &x [1]\nb: [*x]', limits)).toEqual({ a: [1], b: [[1]] });
  });

  it('reads the output of the yaml library, for any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        // The library writes floats of this size like integers.
        const isHuge = (n: unknown) => Number.isInteger(n) && !Number.isSafeInteger(n);
        const plain: unknown = JSON.parse(JSON.stringify(value), (_key, member: unknown) =>
          isHuge(member) ? 0 : member,
        );
        expect(read(stringify(plain, { schema: 'core' }))).toEqual(plain);
      }),
      propertyRuns(500),
    );
  });
});

describe('locate', () => {
  const text = [
    'Id: order', // 1
    'Steps:', // 2
    '  - Id: ask', // 3
    '    StepType: WaitFor', // 4
    '    Inputs:', // 5
    '      "a/b~c": x', // 6
    '  - &second', // 7
    '    Id: answer', // 8
    '    Do: [[{Id: inner}]]', // 9
    '  - *second', // 10
  ].join('\n');
  const locate = parseYaml(text, DEFAULT_API_LIMITS)!.locator();

  it.each([
    ['', 1, 1],
    ['/Id', 1, 5],
    ['/Steps', 2, 1],
    ['/Steps/0', 3, 5],
    ['/Steps/0/StepType', 4, 15],
    ['/Steps/0/Inputs', 5, 5],
    ['/Steps/0/Inputs/a~1b~0c', 6, 16],
    ['/Steps/1/Do/0/0/Id', 9, 16],
    ['/Steps/2/Id', 8, 9],
    ['/Steps/0/NextStepId', 3, 5],
    ['/Steps/7', 2, 1],
    ['/nothing/there', 1, 1],
  ])('finds %j at line %i, column %i', (pointer, line, column) => {
    expect(locate(pointer)).toEqual({ line, column });
  });
});
