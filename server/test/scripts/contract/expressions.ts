/** Contract cases: the source of expressions, its length, and batches of expressions. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/engine/values/json.js';
import type { RuntimeUnderTest } from './runtime-under-test.js';

export function describeExpressions(test: RuntimeUnderTest): void {
  const { evaluateAll, valueOf, errorOf } = test;

  describe('the length of an expression', () => {
    it('is limited to 16 KiB of UTF-8, both when it is evaluated and when it is checked', async () => {
      const longest = `"${'é'.repeat(8_191)}"`;
      expect(await valueOf(longest)).toHaveLength(8_191);
      for (const source of [`${longest} `, `abs(${longest})`, `"${'x'.repeat(1 << 20)}"`]) {
        const error = await errorOf(source);
        expect(error).toMatchObject({ type: 'ValueError' });
        expect(error.message).toMatch(/at most 16384 bytes.*custom step/);
        const problems = await test.runtime.checkSyntax('expression', ['1', source]);
        expect(problems).toMatchObject([{ index: 1, message: error.message }]);
      }
    });

    it('fails only one expression of a batch', async () => {
      const sources = ['1', `"${'x'.repeat(20_000)}"`, '2'];
      expect(await evaluateAll(sources)).toMatchObject({ ok: false, index: 1 });
    });

    it('keeps the order and the positions of many long ones', async () => {
      const open = Array.from({ length: 8 }, (_, at) => `"${'x'.repeat(9_000)}${at}".count("x"`);
      const closed = open.map((source) => `${source})`);
      expect(await evaluateAll(closed)).toEqual({ ok: true, values: closed.map(() => 9_000) });
      const problems = await test.runtime.checkSyntax('expression', [...closed, ...open]);
      expect(problems.map(({ index }) => index)).toEqual(open.map((_, at) => 8 + at));
    });

    it('is unlimited for a constant, whether Python reads it or not', async () => {
      const constant = Array.from({ length: 20_000 }, (_, at) => `${at}`);
      const alone = await evaluateAll([{ constant, assignTo: 'list' }]);
      expect(alone).toEqual({ ok: true, values: [constant] });
      const seen = await evaluateAll([
        { constant, assignTo: 'list' },
        'sum(len(text) for text in data.list)',
      ]);
      expect(seen).toEqual({ ok: true, values: [constant, constant.join('').length] });
    });

    it.each<[string, Json]>([
      ['None', null],
      ['True', true],
      ['False', false],
      ['a fraction', -1.5],
      ['a long integer', 2n ** 70n],
      ['a string', '"quotes", \\\\, \n and 漢😀'],
      ['an object', { 'a "b"': [null, { c: '\\\\u0041' }] }],
    ])(
      'does not change %s as a constant, before and after expressions',
      async (_name, constant) => {
        const requests = [{ constant, assignTo: 'x' }, { source: 'repr(1)' }, { constant }];
        expect(await evaluateAll(requests)).toEqual({
          ok: true,
          values: [constant, '1', constant],
        });
      },
    );
  });

  describe('the source of an expression', () => {
    it.each<[string, Json]>([
      ['  data.count  ', 3],
      ['\n  data.count\n', 3],
      ['data.count +\n  data.count', 6],
      ['data.count\n+ 1', 4],
      ['abs(data.count) +\n  data.count', 6],
      ['data.count\n+ abs(1)', 4],
      ['data.count # a remark', 3],
      ['data.count # a remark\n+ 1 # another', 4],
      ['\r\ndata.count\r\n+ 1\r\n', 4],
      ['\r\ndata.count\r\n+ abs(1)\r\n', 4],
      ['[\n  1,\n  2\n]', [1, 2]],
      ['1,\n2', [1, 2]],
      ['"""two\nlines"""', 'two\nlines'],
    ])('is accepted: %j', async (source, expected) => {
      expect(await valueOf(source)).toEqual(expected);
    });

    it.each([
      '',
      '   ',
      'data.',
      'data.a b',
      '1) + (2',
      '1)\n+ (2',
      '1) + (\n2',
      'x = 1',
      'import os',
      'data.class',
    ])('is rejected as a syntax error: %j', async (source) => {
      expect((await errorOf(source)).type).toBe('SyntaxError');
    });

    it('has its lines counted in errors', async () => {
      const error = await errorOf('\n\n[1,\n 2,\n 1 / 0]');
      expect(error).toMatchObject({ type: 'ZeroDivisionError', line: 5 });
      expect(await errorOf('\n\n1 +\n2 + +')).toMatchObject({ type: 'SyntaxError' });
    });
  });

  describe('a batch', () => {
    it('returns one value for each expression, in order', async () => {
      const result = await evaluateAll(['1', 'abs(data.count) + 1', '"x"']);
      expect(result).toEqual({ ok: true, values: [1, 4, 'x'] });
    });

    it('returns nothing for no expressions', async () => {
      expect(await evaluateAll([])).toEqual({ ok: true, values: [] });
    });

    it.each([
      ['without Python', 'data.count', 'data.a'],
      ['in Python', 'abs(data.count)', 'abs(data.a)'],
    ])('lets later expressions read assigned values, %s', async (_, first, second) => {
      const data = { count: 3 };
      const result = await evaluateAll(
        [
          { source: first, assignTo: 'a' },
          { source: second, assignTo: 'with.dot' },
          'data["with.dot"]',
        ],
        { data },
      );
      expect(result).toEqual({ ok: true, values: [3, 3, 3] });
      expect(data).toEqual({ count: 3 });
    });

    it('lets later expressions read the value as stored, not as computed', async () => {
      const result = await evaluateAll([
        { source: '{1, 2}', assignTo: 's' },
        { source: 'datetime(2024, 1, 1)', assignTo: 'd' },
        { source: '4 / 2', assignTo: 'f' },
        { source: '{"items": 5}', assignTo: 'items' },
        '[type(data.s).__name__, data.d, str(data.f), data.items.items]',
      ]);
      expect(result.ok && result.values[4]).toEqual(['list', '2024-01-01T00:00:00', '2', 5]);
    });

    it.each([
      ['without Python', ['1', 'data.Missing', '2'], 1],
      ['in Python', ['1 + 0', '1 / 0', '2 + 0'], 1],
      ['for a value that cannot be stored', ['1', '2', '10 ** 1000', '3'], 2],
      ['for a syntax error', ['1', '(', '3'], 1],
    ])('stops at the first failure and names it, %s', async (_, sources, index) => {
      expect(await evaluateAll(sources)).toMatchObject({ ok: false, index });
    });

    it('names the expression that timed out', async () => {
      const result = await evaluateAll(['1', '2', 'sum(range(10 ** 12))', '3']);
      expect(result).toMatchObject({ ok: false, index: 2, error: { type: 'Timeout' } });
    });

    it('assigns to fields with any name', async () => {
      const result = await evaluateAll([
        { source: '"evil"', assignTo: '__proto__' },
        'data["__proto__"]',
        'data.get("toString")',
      ]);
      expect(result).toEqual({ ok: true, values: ['evil', 'evil', null] });
      expect(({} as Record<string, unknown>)['evil']).toBeUndefined();
    });

    it("does not modify the caller's variables", async () => {
      const data = { list: [1], object: { a: 1 } };
      await evaluateAll(
        [
          {
            source: '(data.list.append(2), data.update(x=1), data.object.clear())',
            assignTo: 'y',
          },
        ],
        { data },
      );
      expect(data).toEqual({ list: [1], object: { a: 1 } });
    });
  });
}
