/** Contract cases: the variables that expressions read, and the names that are available without an import. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/engine/values/json.js';
import { CONTEXT, DATA, type RuntimeUnderTest } from './runtime-under-test.js';

export function describeVariables(test: RuntimeUnderTest): void {
  const { valueOf, errorOf } = test;

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
    ])('returns %s', async (source, expected) => {
      expect(await valueOf(source)).toEqual(expected);
      // The same evaluated by Python, for sources that could be evaluated without it.
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
      'reads a field as the attribute, while library code gets dict methods: %s',
      async (source, expected) => {
        expect(await valueOf(source)).toEqual(expected);
        expect(await valueOf(`(lambda: ${source})()`)).toEqual(expected);
      },
    );

    it('names a missing attribute after a method of dict', async () => {
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
    ])('modifies nothing in place: %s', async (source) => {
      const after = ['data.count', 'data.list', 'data.order', 'context', 'data.new'];
      const result = await test.runtime.evaluate(
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
    ])('explains the failure of %s', async (source, type, message) => {
      const error = await errorOf(source);
      expect(error.type).toBe(type);
      expect(error.message).toMatch(message);
    });

    it('provides step only where there is one', async () => {
      const result = await test.runtime.evaluate([{ source: 'step.x' }], { data: {}, context: {} });
      expect(result).toMatchObject({ ok: false, error: { type: 'NameError' } });
    });
  });

  describe('a name', () => {
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
    ])('is available without an import: %s', async (source, expected) => {
      expect(await valueOf(source)).toEqual(expected);
    });
  });
}
