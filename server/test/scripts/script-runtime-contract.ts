/**
 * The contract of ScriptRuntime as tests: run it against every implementation.
 *
 * Each case is data in, data out, through the public interface only. P1 to P4 refer to script-runtime.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeJson } from '../../src/engine/values/exact-json.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import type {
  EvaluationResult,
  EvaluationVariables,
  EvaluationRequest,
  ScriptRuntime,
} from '../../src/scripts/script-runtime.js';

const DATA: JsonObject = {
  Value1: 'one',
  count: 3,
  price: 2.5,
  flag: false,
  nothing: null,
  list: [1, [2, 3], { name: 'x' }],
  order: {
    lines: [{ sku: 'a', qty: 2 }],
    'with space': 1,
    items: ['field'],
    deep: { er: { est: 7 } },
  },
  items: 'a field',
  text: 'äöü 😀 "quoted"\n',
};
const CONTEXT: JsonObject = { Workflow: { Id: 'w1', Version: 2 }, Item: { name: 'i' }, Index: 0 };
const STEP: JsonObject = { EventData: { ok: true }, c: 4 };
const ENVIRONMENT = { NAME: 'n1', EMPTY: '' };

export function describeScriptRuntime(
  name: string,
  create: (environment: Readonly<Record<string, string>>) => ScriptRuntime,
): void {
  let runtime: ScriptRuntime;

  const evaluateAll = async (
    expressions: readonly (string | EvaluationRequest)[],
    variables: Partial<EvaluationVariables> = {},
  ): Promise<EvaluationResult> =>
    runtime.evaluate(
      expressions.map((item) => (typeof item === 'string' ? { source: item } : item)),
      { data: DATA, context: CONTEXT, step: STEP, ...variables },
    );
  const valueOf = async (source: string, variables: Partial<EvaluationVariables> = {}) => {
    const result = await evaluateAll([source], variables);
    if (!result.ok) throw new Error(`${source}: ${result.error.type}: ${result.error.message}`);
    return result.values[0];
  };
  const errorOf = async (source: string, variables: Partial<EvaluationVariables> = {}) => {
    const result = await evaluateAll([source], variables);
    if (result.ok) throw new Error(`${source} gave ${writeJson(result.values)}`);
    return result.error;
  };
  const run = async (source: string, inputs: JsonObject = {}) => {
    const result = await runtime.runScript(source, inputs);
    if (!result.ok) throw new Error(`${result.error.type}: ${result.error.message}`);
    return result;
  };

  describe(`${name}: ScriptRuntime`, () => {
    beforeAll(async () => {
      runtime = create(ENVIRONMENT);
      await runtime.start();
      await evaluateAll(['abs(1)']);
    });
    afterAll(() => runtime.stop());

    describe('reading variables', () => {
      it.each<[string, Json]>([
        ['data.Value1', 'one'],
        ['data["Value1"]', 'one'],
        ['data.order.lines[0].sku', 'a'],
        ['data["order"]["lines"][0]["qty"]', 2],
        ['data.order["with space"]', 1],
        ['data.order.deep.er.est', 7],
        ['data.list[-1].name', 'x'],
        ['data.list[1][1]', 3],
        ['data.nothing', null],
        ['context.Workflow.Id', 'w1'],
        ['context.Item', { name: 'i' }],
        ['context.Index', 0],
        ['step.EventData.ok', true],
        ['step["c"]', 4],
        ['environment["NAME"]', 'n1'],
        ['environment["EMPTY"]', ''],
        ['environment.NAME', 'n1'],
        ['environment.get("MISSING")', null],
        ['data.get("missing")', null],
        ['data.get("count", 9)', 3],
        ['data.order.get("missing", data.count)', 3],
        ['data.text', 'äöü 😀 "quoted"\n'],
        ['data', DATA],
      ])('gives %s', async (source, expected) => {
        expect(await valueOf(source)).toEqual(expected);
        // The same through Python's own eyes, where the source could be answered without it.
        expect(await valueOf(`(lambda: ${source})()`)).toEqual(expected);
      });

      it('prefers a field to the dict method of the same name, at every depth', async () => {
        expect(await valueOf('data.items')).toBe('a field');
        expect(await valueOf('f"{data.items}!"')).toBe('a field!');
        expect(await valueOf('data.order.items[0].upper()')).toBe('FIELD');
        expect(await valueOf('[k for k in data.order.deep.keys()]')).toEqual(['er']);
        expect(await valueOf('sorted(data.order.keys())[0]')).toBe('deep');
      });

      it.each<[string, Json]>([
        ['(lambda d: d.items)(data)', 'a field'],
        ['getattr(data, "items")', 'a field'],
        ['getattr(data, "nope", 1)', 1],
        ['[d.items for d in [data]][0]', 'a field'],
        ['data.order.deep.items()', [['er', { est: 7 }]]],
        ['(lambda: [k for d in [data.order] for k in d.deep.keys()])()', ['er']],
        ['json.loads(json.dumps(data)) == data', true],
        ['{**data}["items"]', 'a field'],
        ['dict(data) == data', true],
        ['{"items": 1}.items()', [['items', 1]]],
        ['[1, 2].copy()', [1, 2]],
        ['(lambda l: l.pop())([1, 2])', 2],
        ['datetime(2024, 1, 1).replace(year=2023).year', 2023],
        [`${'-'.repeat(150)}data.order.deep.keys().__len__()`, 1],
      ])(
        'takes a field for the attribute, and dict methods for the library: %s',
        async (source, expected) => {
          expect(await valueOf(source)).toEqual(expected);
          expect(await valueOf(`(lambda: ${source})()`)).toEqual(expected);
        },
      );

      it('names an attribute that is missing behind a method of dict', async () => {
        expect(await errorOf('(5).items')).toMatchObject({
          type: 'AttributeError',
          message: "'int' object has no attribute 'items'",
        });
        expect((await errorOf('data.items()')).message).toBe("'str' object is not callable");
      });

      it.each([
        'data.list.append(4)',
        'data.order.update(x=1)',
        '[0 for data.count in [9]]',
        '[0 for data["count"] in [9]]',
        'random.shuffle(data.list)',
        '(lambda d: d.clear())(data)',
        'setattr(data, "count", 9)',
        'context.clear()',
      ])('changes nothing in place: %s', async (source) => {
        const after = ['data.count', 'data.list', 'data.order', 'context', 'data.new'];
        const result = await runtime.evaluate(
          [
            { source: '"assigned".upper()', assignTo: 'new' },
            { source, assignTo: 'changed' },
            { source: `(lambda: ${source})()`, assignTo: 'again' },
            ...after.map((each) => ({ source: each })),
          ],
          { data: DATA, context: CONTEXT },
        );
        if (!result.ok) throw new Error(result.error.message);
        expect(result.values.slice(3)).toEqual([
          DATA['count'],
          DATA['list'],
          DATA['order'],
          CONTEXT,
          'ASSIGNED',
        ]);
      });

      it.each([
        ['data.Missing', 'AttributeError', /'Missing'/],
        ['data.order.deep.Missing.more', 'AttributeError', /'Missing'/],
        ['data.count.Missing', 'AttributeError', /'Missing'/],
        ['data["Missing"]', 'KeyError', /Missing/],
        ['data.list[9]', 'IndexError', /range/],
        ['environment["MISSING"]', 'KeyError', /MISSING/],
        ['unknown', 'NameError', /unknown/],
      ])('explains %s', async (source, type, message) => {
        const error = await errorOf(source);
        expect(error.type).toBe(type);
        expect(error.message).toMatch(message);
      });

      it('has step only where one is given', async () => {
        const result = await runtime.evaluate([{ source: 'step.x' }], { data: {}, context: {} });
        expect(result).toMatchObject({ ok: false, error: { type: 'NameError' } });
      });
    });

    describe('names', () => {
      it.each<[string, Json]>([
        ['math.floor(2.7)', 2],
        ['json.loads(json.dumps({"a": [1]}))', { a: [1] }],
        ['re.sub("[aeiou]", "_", "hello")', 'h_ll_'],
        ['random.random() < 1', true],
        ['len(str(uuid.uuid4()))', 36],
        ['base64.b64encode(b"hi").decode()', 'aGk='],
        ['hashlib.sha256(b"a").hexdigest()[:8]', 'ca978112'],
        ['datetime(2024, 2, 29) + timedelta(days=1)', '2024-03-01T00:00:00'],
        ['date(2024, 2, 29)', '2024-02-29'],
        ['time(1, 2, 3)', '01:02:03'],
        ['datetime(2024, 1, 1, tzinfo=timezone.utc)', '2024-01-01T00:00:00Z'],
        ['datetime.fromisoformat("2024-01-01T00:00:00Z").timestamp()', 1704067200],
        ['datetime.strptime("2024-05-06", "%Y-%m-%d").weekday()', 0],
        ['Decimal("1.10") + Decimal("2.2")', 3.3],
      ])('knows %s without import', async (source, expected) => {
        expect(await valueOf(source)).toEqual(expected);
      });
    });

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
      ])('turns %s into JSON', async (source, expected) => {
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
      ])('refuses %s with a reason', async (source, type, message) => {
        const error = await errorOf(source);
        expect(error.type).toBe(type);
        expect(error.message).toMatch(message);
      });

      it('keeps digits inside of texts', async () => {
        expect(await valueOf('["12345678901234567890", ",[12345678901234567890]"]')).toEqual([
          '12345678901234567890',
          ',[12345678901234567890]',
        ]);
      });

      it('keeps floats floats and integers integers, on the way there and back', async () => {
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

      it('lets the expressions that follow see a number as it will be stored', async () => {
        const result = await runtime.evaluate(
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

    describe('many calls at once', () => {
      it('of one definition hold up no other one, and leave the queue when they are aborted', async () => {
        const abort = new AbortController();
        const ended: string[] = [];
        const evaluate = async (source: string, definitionId: string, signal?: AbortSignal) => {
          const options = { definitionId, ...(signal === undefined ? {} : { signal }) };
          const result = await runtime.evaluate([{ source }], { data: {}, context: {} }, options);
          ended.push(definitionId);
          return result;
        };
        const endless = Array.from({ length: 25 }, () =>
          evaluate('sum(1 for _ in iter(int, 1))', 'slow', abort.signal),
        );
        for (let turn = 0; turn < 3; turn += 1) {
          expect(await evaluate('abs(-1)', 'healthy')).toEqual({ ok: true, values: [1] });
        }
        // One was running when the first healthy call came. Until a spare is there, one more may run between two of them.
        expect(ended.filter((name) => name === 'slow').length).toBeLessThanOrEqual(3);
        abort.abort();
        const results = await Promise.all(endless);
        const types = results.map((result) => (result.ok ? 'none' : result.error.type));
        expect(types.filter((type) => type === 'Aborted').length).toBeGreaterThanOrEqual(23);
        expect(runtime.statistics().queued).toBe(0);
        expect(await evaluate('abs(-1)', 'healthy')).toMatchObject({ ok: true });
      });
    });

    describe('the length of an expression', () => {
      it('is at most 16 KiB as UTF-8, when it is evaluated and when it is checked', async () => {
        const longest = `"${'é'.repeat(8_191)}"`;
        expect(await valueOf(longest)).toHaveLength(8_191);
        for (const source of [`${longest} `, `abs(${longest})`, `"${'x'.repeat(1 << 20)}"`]) {
          const error = await errorOf(source);
          expect(error).toMatchObject({ type: 'ValueError' });
          expect(error.message).toMatch(/at most 16384 bytes.*custom step/);
          const problems = await runtime.checkSyntax('expression', ['1', source]);
          expect(problems).toMatchObject([{ index: 1, message: error.message }]);
        }
      });

      it('is one failure of a batch, at its place', async () => {
        const sources = ['1', `"${'x'.repeat(20_000)}"`, '2'];
        expect(await evaluateAll(sources)).toMatchObject({ ok: false, index: 1 });
      });

      it('keeps the order and the places of many long ones', async () => {
        const open = Array.from({ length: 8 }, (_, at) => `"${'x'.repeat(9_000)}${at}".count("x"`);
        const closed = open.map((source) => `${source})`);
        expect(await evaluateAll(closed)).toEqual({ ok: true, values: closed.map(() => 9_000) });
        const problems = await runtime.checkSyntax('expression', [...closed, ...open]);
        expect(problems.map(({ index }) => index)).toEqual(open.map((_, at) => 8 + at));
      });

      it('has no limit for a constant, whether Python sees it or not', async () => {
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
        ['a text', '"quotes", \\\\, \n and 漢😀'],
        ['an object', { 'a "b"': [null, { c: '\\\\u0041' }] }],
      ])(
        'gives %s as a constant back as it is, before and after expressions',
        async (_name, constant) => {
          const requests = [{ constant, assignTo: 'x' }, { source: 'repr(1)' }, { constant }];
          expect(await evaluateAll(requests)).toEqual({
            ok: true,
            values: [constant, '1', constant],
          });
        },
      );
    });

    describe('expressions as they are written', () => {
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
      ])('reads %j', async (source, expected) => {
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
      ])('reports %j as a syntax error', async (source) => {
        expect((await errorOf(source)).type).toBe('SyntaxError');
      });

      it('names the line of the source', async () => {
        const error = await errorOf('\n\n[1,\n 2,\n 1 / 0]');
        expect(error).toMatchObject({ type: 'ZeroDivisionError', line: 5 });
        expect(await errorOf('\n\n1 +\n2 + +')).toMatchObject({ type: 'SyntaxError' });
      });
    });

    describe('batches', () => {
      it('gives one value for each expression, in order', async () => {
        const result = await evaluateAll(['1', 'abs(data.count) + 1', '"x"']);
        expect(result).toEqual({ ok: true, values: [1, 4, 'x'] });
      });

      it('gives nothing for nothing', async () => {
        expect(await evaluateAll([])).toEqual({ ok: true, values: [] });
      });

      it.each([
        ['without Python', 'data.count', 'data.a'],
        ['in Python', 'abs(data.count)', 'abs(data.a)'],
      ])('lets later expressions see assigned values, %s', async (_, first, second) => {
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

      it('shows later expressions what will be stored, not what was computed', async () => {
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
      ])('stops at the first failure and says which, %s', async (_, sources, index) => {
        expect(await evaluateAll(sources)).toMatchObject({ ok: false, index });
      });

      it('says which expression took too long', async () => {
        const result = await evaluateAll(['1', '2', 'sum(range(10 ** 12))', '3']);
        expect(result).toMatchObject({ ok: false, index: 2, error: { type: 'Timeout' } });
      });

      it('assigns to a field whatever its name is', async () => {
        const result = await evaluateAll([
          { source: '"evil"', assignTo: '__proto__' },
          'data["__proto__"]',
          'data.get("toString")',
        ]);
        expect(result).toEqual({ ok: true, values: ['evil', 'evil', null] });
        expect(({} as Record<string, unknown>)['evil']).toBeUndefined();
      });

      it('never changes the variables of the caller', async () => {
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

    describe('errors', () => {
      it('carries type, message, line and the frames of user code', async () => {
        const result = await runtime.runScript(
          'def total(rows):\n    return sum(r.price / r.count for r in rows)\n\nx = total(rows)',
          { rows: [{ price: 1, count: 0 }] },
        );
        expect(result).toMatchObject({
          ok: false,
          error: { type: 'ZeroDivisionError', message: 'division by zero', line: 2 },
        });
        const traceback = result.ok ? '' : result.error.traceback;
        expect(traceback).toContain('File "<script>", line 4, in <module>');
        expect(traceback).toContain('    x = total(rows)');
        expect(traceback).toMatch(/ZeroDivisionError: division by zero$/);
        expect(traceback).not.toContain('runner');
      });

      it('keeps a traceback below 4 kB', async () => {
        const result = await runtime.runScript(
          'def f(n):\n    return f(n + 1) if n < 900 else 1 / 0 + len("' +
            'x'.repeat(500) +
            '")\nf(0)',
          {},
        );
        const traceback = result.ok ? '' : (result.error.traceback ?? '');
        expect(traceback).toMatch(/ZeroDivisionError/);
        expect(Buffer.byteLength(traceback)).toBeLessThanOrEqual(4096);
      });

      it('names exceptions that scripts define', async () => {
        const result = await runtime.runScript(
          'class OutOfStock(Exception):\n    pass\nraise OutOfStock("none left")',
          {},
        );
        expect(result).toMatchObject({
          ok: false,
          error: { type: 'OutOfStock', message: 'none left', line: 3 },
        });
      });

      it('keeps what was printed before the failure', async () => {
        const result = await runtime.runScript('print("before")\n1 / 0', {});
        expect(result).toMatchObject({ ok: false, output: 'before\n' });
      });
    });

    describe('scripts', () => {
      it('takes inputs as variables and gives back every variable that is left', async () => {
        const result = await run('c = a + b.x\nb.y = 1\nd = {"k": {1}}\n_private = 1\ndel a', {
          a: 1,
          b: { x: 2 },
        });
        expect(result.variables).toEqual({ b: { x: 2, y: 1 }, c: 3, d: { k: [1] } });
      });

      it('leaves out modules, functions and classes', async () => {
        const result = await run(
          [
            'from __future__ import annotations',
            'import math, re, functools, operator',
            'from typing import Any, Optional, TypeVar',
            'from datetime import datetime',
            'def f(): pass',
            'class C: \n  def m(self): pass',
            '@functools.lru_cache\ndef cached(): pass',
            'half = functools.partial(f)',
            'first = operator.itemgetter(0)',
            'method = C().m',
            'upper = "a".upper',
            'Names = list[str] | None',
            'Row = list[str]',
            'T = TypeVar("T")',
            '_pattern = re.compile("a")',
            'ok = 1',
          ].join('\n'),
        );
        expect(result.variables).toEqual({ ok: 1 });
      });

      it.each([
        ['m = re.match("a", "a")', 'm', /type Match/],
        ['raw = b"x"', 'raw', /base64/],
        ['n = float("nan")', 'n', /nan/],
        ['objects = {object()}', 'objects', /type object/],
        ['it = iter([1])', 'it', /list\(\)/],
        ['class C: pass\nc = C()', 'c', /type C/],
      ])('names the variable that cannot be stored: %s', async (source, variable, reason) => {
        const result = await runtime.runScript(`import re\nok = 1\n${source}`, {});
        if (result.ok) throw new Error(JSON.stringify(result.variables));
        expect(result.error.message).toMatch(reason);
        expect(result.error.message).toContain(`the variable '${variable}' cannot be stored`);
        expect(result.error.message).toContain('underscore');
      });

      it('lets dict methods win over fields, and the library use objects whatever their keys are', async () => {
        const { variables } = await run(
          [
            'import json, copy, csv, io, pprint',
            'from collections import OrderedDict',
            'from urllib.parse import urlencode',
            'methods = [callable(x.items), callable(x.keys), x.get("items"), sorted(x.keys())]',
            'fields = [x["items"], x["keys"], x.other]',
            'dumped = json.dumps(x)',
            'pretty = pprint.pformat(x)',
            'query = urlencode(x)',
            '_out = io.StringIO()',
            '_writer = csv.DictWriter(_out, x.keys())',
            '_writer.writeheader()\n_writer.writerow(x)',
            'table = _out.getvalue()',
            'copies = [OrderedDict(x), copy.deepcopy(x), copy.copy(x), dict(x), {**x}, x | {}]',
            'same = all(c == x for c in copies)',
            'del copies',
          ].join('\n'),
          { x: { items: 1, keys: 2, values: 3, get: 4, other: 5 } },
        );
        expect(variables).toMatchObject({
          methods: [true, true, 1, ['get', 'items', 'keys', 'other', 'values']],
          fields: [1, 2, 5],
          dumped: '{"items": 1, "keys": 2, "values": 3, "get": 4, "other": 5}',
          pretty: "{'get': 4, 'items': 1, 'keys': 2, 'other': 5, 'values': 3}",
          query: 'items=1&keys=2&values=3&get=4&other=5',
          table: 'items,keys,values,get,other\r\n1,2,3,4,5\r\n',
          same: true,
        });
      });

      it.each([
        ['import requests', /'requests' cannot be imported: use an HttpRequest step/],
        ['from urllib import request', /'urllib.request' cannot be imported: use an HttpRequest/],
        ['import urllib.request', /'urllib.request' cannot be imported: use an HttpRequest/],
        ['import os', /'os' cannot be imported: .*input/],
        ['import jsn', /'jsn' cannot be imported: did you mean 'json'\?/],
        [
          'import pandas',
          /'pandas' cannot be imported\nThese modules can be imported: abc array .* zoneinfo$/,
        ],
        ['from . import x', /relative/],
      ])('says what to do instead of %s', async (source, message) => {
        const result = await runtime.runScript(source, {});
        if (result.ok) throw new Error('it was imported');
        expect(result.error).toMatchObject({ type: 'ImportError', line: 1 });
        expect(result.error.message).toMatch(message);
      });

      it.each([
        ['raise NonRetryableError("no such order")', 'no such order'],
        ['class Gone(NonRetryableError): pass\nraise Gone("no such order")', 'Gone: no such order'],
      ])('knows NonRetryableError: %s', async (source, message) => {
        const result = await runtime.runScript(source, {});
        expect(result).toMatchObject({ ok: false, error: { type: 'NonRetryableError', message } });
      });

      it('may import from the standard library, the datetime module too', async () => {
        const { variables } = await run(
          'import datetime\nfrom collections import Counter\nimport urllib.parse as u\n' +
            'd = datetime.date(2024, 1, 1)\nc = Counter("aab")\nq = u.quote("a b")',
        );
        expect(variables).toMatchObject({ d: '2024-01-01', c: { a: 2, b: 1 }, q: 'a%20b' });
      });

      it.each([
        'os',
        'sys',
        'socket',
        'subprocess',
        'js',
        'ctypes',
        'pathlib',
        'importlib',
        'nonsense',
      ])('does not let import %s', async (module) => {
        const result = await runtime.runScript(`import ${module}`, {});
        expect(result).toMatchObject({ ok: false, error: { type: 'ImportError', line: 1 } });
      });

      it('captures what is printed', async () => {
        const result = await run('print("a", 1, sep="-")\nprint("é😀", end="")');
        expect(result.output).toBe('a-1\né😀');
      });

      it('runs as the main module', async () => {
        expect((await run('x = 0\nif __name__ == "__main__":\n    x = 1')).variables).toEqual({
          x: 1,
        });
      });

      it('takes inputs with any name', async () => {
        const inputs = { 'not a name': 1, __builtins__: 'x', class: 2, len: 3 };
        expect((await run('y = sorted([2, 1])', inputs)).variables).toEqual({
          'not a name': 1,
          class: 2,
          len: 3,
          y: [1, 2],
        });
      });

      it('ends with SystemExit as an error, not as the end of anything else', async () => {
        const result = await runtime.runScript('raise SystemExit(3)', {});
        expect(result).toMatchObject({ ok: false, error: { type: 'SystemExit' } });
      });

      it('is given up when the caller aborts', async () => {
        const abort = new AbortController();
        const running = runtime.runScript('while True: pass', {}, { signal: abort.signal });
        abort.abort();
        expect(await running).toMatchObject({ ok: false, error: { type: 'Aborted' } });
        const before = await runtime.runScript('x = 1', {}, { signal: abort.signal });
        expect(before).toMatchObject({ ok: false, error: { type: 'Aborted' } });
        expect(await valueOf('sum([1, 1])')).toBe(2);
      });
    });

    describe('checkSyntax', () => {
      it('finds nothing wrong with what is right', async () => {
        expect(await runtime.checkSyntax('expression', ['data.a', 'a +\nb', ' 1 '])).toEqual([]);
        expect(
          await runtime.checkSyntax('script', ['x = 1\n', '', 'def f():\n  return 1']),
        ).toEqual([]);
        expect(await runtime.checkSyntax('script', [])).toEqual([]);
      });

      it('names source, line and column', async () => {
        const problems = await runtime.checkSyntax('script', ['x = 1', 'a = 1\nb = (', 'return 1']);
        expect(problems).toEqual([
          { index: 1, message: "'(' was never closed", line: 2, column: 5 },
          { index: 2, message: "'return' outside function", line: 1, column: 1 },
        ]);
      });

      it('gives places in an expression as it was written', async () => {
        const problems = await runtime.checkSyntax('expression', [
          '  1 +* 2',
          '\n\n  a\n +* 2',
          'x = 1',
          '',
        ]);
        expect(problems.map(({ index, line, column }) => [index, line, column])).toEqual([
          [0, 1, 6],
          [1, 4, 3],
          [2, 1, expect.any(Number)],
          [3, null, null],
        ]);
      });

      it('survives sources that are too much for a parser', async () => {
        const problems = await runtime.checkSyntax('expression', [
          '1',
          `${'('.repeat(5000)}1${')'.repeat(5000)}`,
          `${'-'.repeat(200_000)}1`,
          ')',
        ]);
        expect(problems.map(({ index }) => index)).toEqual([1, 2, 3]);
        expect(await valueOf('sum([1, 1])')).toBe(2);
      });

      it('runs nothing', async () => {
        expect(await runtime.checkSyntax('script', ['while True: pass'])).toEqual([]);
      });
    });

    describe('life', () => {
      it('is ready after the first answer, and counts', () => {
        expect(runtime.ready).toBe(true);
        expect(runtime.statistics()).toMatchObject({ busy: 0, queued: 0 });
      });

      it('answers constants, plain paths and simple operators synchronously', () => {
        const variables = { data: DATA, context: CONTEXT };
        const sources = [
          '"x"',
          ' data.order.lines[0]["sku"] ',
          'data.count\n < len(data.list) + 1',
        ];
        const expressions = sources.map((source) => ({ source }));
        expect(runtime.evaluate(expressions, variables)).toEqual({
          ok: true,
          values: ['x', 'a', true],
        });
      });
    });
  });
}
