/** Contract cases: the conversion of values into JSON. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/engine/values/json.js';
import type { RuntimeUnderTest } from './runtime-under-test.js';

export function describeResults(test: RuntimeUnderTest): void {
  const { valueOf, errorOf, run } = test;

  describe('results', () => {
    it.each<[string, Json]>([
      ['1', 1],
      ['-0', 0],
      ['2 ** 53 - 1', 2 ** 53 - 1],
      ['2 ** 53', 2n ** 53n],
      ['-(2 ** 53) - 1', -(2n ** 53n) - 1n],
      ['10 ** 1000 - 1', 10n ** 1000n - 1n],
      ['Decimal("1e30")', 10n ** 30n],
      ['1e16', 1e16],
      ['2.0 ** 53', 2 ** 53],
      ['-0.0', -0],
      ['{"a": [-(2 ** 60)]}', { a: [-(2n ** 60n)] }],
      ['1 / 4', 0.25],
      ['4 / 2', 2],
      ['1e300 * 10', 1e301],
      ['True and not False', true],
      ['None', null],
      ['"text"', 'text'],
      ["'it''s'", 'its'],
      ['"\\u00e9\\n"', 'é\n'],
      ['[1, "a", None, [True]]', [1, 'a', null, [true]]],
      ['(1, 2)', [1, 2]],
      ['{3, 1, 2}', [1, 2, 3]],
      ['frozenset("b")', ['b']],
      ['{"a": {"b": 1}, 5: 2}', { a: { b: 1 }, '5': 2 }],
      ['{}', {}],
      ['timedelta(minutes=1, milliseconds=500)', 60.5],
      ['datetime(2024, 1, 2, 3, 4, 5, 600000)', '2024-01-02T03:04:05.600000'],
      ['datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=2)))', '2024-01-02T00:00:00+02:00'],
      ['[datetime(2024, 1, 1, tzinfo=timezone.utc)]', ['2024-01-01T00:00:00Z']],
      ['Decimal("12")', 12],
      ['uuid.UUID(int=5)', '00000000-0000-0000-0000-000000000005'],
      ['range(3)', [0, 1, 2]],
      ['data.order.deep.keys()', ['er']],
      ['f"{data.Value1}-{data.price:.2f}"', 'one-2.50'],
      ['"%s=%d" % ("a", 5)', 'a=5'],
      ['"{} {}".format(1, data.Value1)', '1 one'],
      ['"\\ud800"', '\ud800'],
      ['{"__proto__": 1}["__proto__"]', 1],
    ])('converts %s into JSON', async (source, expected) => {
      expect(await valueOf(source)).toEqual(expected);
      expect(await valueOf(`[${source}][0]`)).toEqual(expected);
    });

    it.each([
      ['10 ** 1000', 'OverflowError', /more than 1000 digits/],
      ['[1, {"a": -(10 ** 1000)}]', 'OverflowError', /more than 1000 digits/],
      ['10 ** 5000', 'OverflowError', /more than 1000 digits/],
      ['[10 ** 5000]', 'OverflowError', /more than 1000 digits/],
      ['float("nan")', 'ValueError', /nan/],
      ['[1, float("inf")]', 'ValueError', /inf/],
      ['Decimal("NaN")', 'ValueError', /NaN/],
      ['b"bytes"', 'TypeError', /bytes/],
      ['print', 'TypeError', /builtin_function_or_method/],
      ['math', 'TypeError', /module/],
      ['(x for x in [1])', 'TypeError', /list\(\)/],
      ['1j', 'TypeError', /complex/],
      ['object()', 'TypeError', /object/],
      ['{(1, 2): 3}', 'TypeError', /key/],
      ['(lambda l: (l.append(l), l)[1])([])', 'ValueError', /contains itself/],
      ['__import__("functools").reduce(lambda a, _: [a], range(91), 1)', 'ValueError', /nested/],
    ])('rejects %s with a reason', async (source, type, message) => {
      const error = await errorOf(source);
      expect(error.type).toBe(type);
      expect(error.message).toMatch(message);
    });

    it('keeps digits in strings', async () => {
      expect(await valueOf('["12345678901234567890", ",[12345678901234567890]"]')).toEqual([
        '12345678901234567890',
        ',[12345678901234567890]',
      ]);
    });

    it('keeps floats as floats and integers as integers in both directions', async () => {
      const data = {
        big: 1e20,
        small: 1e-7,
        edge: 2 ** 53,
        minus: -0,
        long: 10n ** 20n,
        negative: -(2n ** 63n),
        whole: 5,
      };
      for (const source of ['data', '(lambda: data)()']) {
        expect(await valueOf(source, { data })).toStrictEqual(data);
      }
      const types = '{key: type(value).__name__ for key, value in data.items()}';
      expect(await valueOf(types, { data })).toEqual({
        big: 'float',
        small: 'float',
        edge: 'float',
        minus: 'float',
        long: 'int',
        negative: 'int',
        whole: 'int',
      });
      const result = await run('c = a + 1\nd = [b, -0.0, 1e16]\n', { a: 2n ** 64n, b: 1e20 });
      expect(result.variables).toStrictEqual({
        a: 2n ** 64n,
        b: 1e20,
        c: 2n ** 64n + 1n,
        d: [1e20, -0, 1e16],
      });
    });

    it('lets the following expressions read a number as it will be stored', async () => {
      const result = await test.runtime.evaluate(
        [
          { source: 'float(1e16)', assignTo: 'a' },
          { source: 'abs(2 ** 64)', assignTo: 'b' },
          { source: '-abs(0.0)', assignTo: 'c' },
          { source: 'abs(2.0)', assignTo: 'd' },
          { source: '[type(x).__name__ for x in [data.a, data.b, data.c, data.d]]' },
        ],
        { data: {}, context: {} },
      );
      if (!result.ok) throw new Error(result.error.message);
      expect(result.values).toStrictEqual([
        1e16,
        2n ** 64n,
        -0,
        2,
        ['float', 'int', 'float', 'int'],
      ]);
    });

    it('keeps 90 levels of nesting', async () => {
      let nested: Json = 1;
      for (let level = 0; level < 90; level += 1) nested = [nested];
      expect(await valueOf('data.n', { data: { n: nested } })).toEqual(nested);
      expect(await valueOf('[data.n][0]', { data: { n: nested } })).toEqual(nested);
      const error = await errorOf('data.n', { data: { n: [nested] } });
      expect(error.message).toMatch(/nested/);
    });
  });
}
