/** What Python does with data, in expressions and in custom steps. */
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import type { StepError } from '../../src/api/wire/models/workflow.js';
import { everyStore } from './support/every-store.js';
import { chain, compute, step } from './support/steps.js';

const RECORD: JsonObject = { items: [1], keys: 'k', values: 2, get: 3, other: { items: 4 } };

everyStore('Python and data', (at) => {
  /** The final data of a custom step, with `x` as its input. */
  const runScript = async (source: string, x: Json): Promise<Readonly<Record<string, unknown>>> => {
    const name = await at.client.script(source);
    const custom = step('s', name, { x: 'data.x' }, { Outputs: { out: 'step.out' } });
    return (await at.client.run([custom], { x })).data;
  };
  const failureOf = async (source: string): Promise<StepError> => {
    const name = await at.client.script(source);
    const id = await at.client.defineAndStart({
      DefaultErrorBehavior: 'Suspend',
      Steps: [step('s', name)],
    });
    const { lastError } = await at.client.untilWorkflow(id, ({ status }) => status === 'Suspended');
    return lastError!;
  };

  describe('a key that is also the name of a dict method', () => {
    it('is a field in expressions, where library functions accept it', async () => {
      const { data } = await at.client.run(
        [
          compute('c', {
            field: 'data.x.items',
            called: 'data.x.other.items',
            inLambda: '(lambda r: r.keys)(data.x)',
            dumped: 'json.loads(json.dumps(data.x))',
            copied: '{**dict(data.x)}',
            methods: 'sorted(data.plain.keys())',
          }),
        ],
        { x: RECORD, plain: { a: 1, b: 2 } },
      );
      expect(data).toMatchObject({
        field: [1],
        called: 4,
        inLambda: 'k',
        dumped: RECORD,
        copied: RECORD,
        methods: ['a', 'b'],
      });
    });

    it('is read by key in custom steps, where the methods remain methods', async () => {
      const source = [
        'import copy, csv, io, json, pprint',
        'from collections import OrderedDict',
        'from urllib.parse import urlencode',
        '_table = io.StringIO()',
        'csv.DictWriter(_table, list(x)).writerow(x)',
        'out = [x["items"], sorted(x.keys()), x.get("get"), x.other["items"], json.loads(json.dumps(x)) == x,',
        '  OrderedDict(x) == x, copy.deepcopy(x) == x, urlencode(x), _table.getvalue(), pprint.pformat(x)[:9]]',
      ].join('\n');
      expect((await runScript(source, { ...RECORD, other: { items: 4 } }))['out']).toEqual([
        [1],
        ['get', 'items', 'keys', 'other', 'values'],
        3,
        4,
        true,
        true,
        true,
        'items=%5B1%5D&keys=k&values=2&get=3&other=%7B%27items%27%3A+4%7D',
        "[1],k,2,3,{'items': 4}\r\n",
        "{'get': 3",
      ]);
    });
  });

  it('discards the in-place change of a value by an expression, even for later outputs', async () => {
    const { data } = await at.client.run(
      chain(
        compute('c', {
          first: 'data.l.append(4)',
          second: 'list(data.l)',
          third: '[data.o.update(a=2), data.o.a][1]',
          fourth: 'data.o.a + 0',
        }),
        compute('d', { later: 'data.l' }),
      ),
      { l: [1], o: { a: 1 } },
    );
    expect(data).toEqual({
      l: [1],
      o: { a: 1 },
      first: null,
      second: [1],
      third: 2,
      fourth: 1,
      later: [1],
    });
  });

  describe('a variable of a custom step', () => {
    it.each([
      ['ages = {object()}', /'ages' cannot be stored: .*type object.*underscore/],
      ['import re\nmatch = re.match("a", "a")', /'match' cannot be stored: .*Match/],
      ['ratio = float("inf")', /'ratio' cannot be stored: .*inf/],
    ])("fails the step with its name if it can't be stored: %s", async (source, message) => {
      expect((await failureOf(source)).message).toMatch(message);
    });

    it('is dropped silently if it is code or starts with an underscore', async () => {
      const source = [
        'import re',
        'from functools import partial',
        'class C: pass',
        'def f(y): return y',
        '_pattern = re.compile("a")',
        'g = partial(f, 1)',
        'out = x',
      ].join('\n');
      expect(await runScript(source, 1)).toEqual({ x: 1, out: 1 });
    });
  });

  it.each([
    ['raise NonRetryableError("no such card")', 'NonRetryableError', /^no such card$/],
    ['import requests', 'ImportError', /'requests' cannot be imported: use an HttpRequest step/],
    ['from urllib.request import urlopen', 'ImportError', /'urllib.request'.*\n.* json /],
  ])('fails a custom step with a clear error: %s', async (source, type, message) => {
    const failure = await failureOf(source);
    expect(failure.type).toBe(type);
    expect(failure.message).toMatch(message);
  });
});
