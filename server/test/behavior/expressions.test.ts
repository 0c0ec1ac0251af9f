/** Python expressions, as definitions use them. */
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { itFails, itRuns } from './support/cases.js';
import { everyStore } from './support/every-store.js';
import { VISIBLE_ENVIRONMENT } from './support/server.js';
import { chain, compute, step } from './support/steps.js';

const DATA: JsonObject = {
  n: 7,
  text: 'Ann',
  flag: true,
  nothing: null,
  list: [3, 1, 2],
  deep: { a: { b: { c: 'here' } }, 'odd key': 1, items: 'own items' },
  items: [10, 20],
  Über: 'ü',
};

/** Expression, and its value with DATA. */
const VALUES: readonly (readonly [string, Json])[] = [
  ['data.n', 7],
  ['data["n"]', 7],
  ["data['n'] + 1", 8],
  ['data.deep.a.b.c', 'here'],
  ['data["deep"].a["b"].c', 'here'],
  ['data.deep["odd key"]', 1],
  ['data.items', [10, 20]],
  ['data.deep.items', 'own items'],
  ['data.get("x")', null],
  ['data.get("x", 5)', 5],
  ['data.get("n")', 7],
  ['"x" in data', false],
  ['"n" in data', true],
  ['data.Über', 'ü'],
  ['sorted(data.list)', [1, 2, 3]],
  ['[x * 2 for x in data.list if x > 1]', [6, 4]],
  ['sum(data.list) / len(data.list)', 2],
  ['7 / 2', 3.5],
  ['7 // 2', 3],
  ['-7 % 3', 2],
  ['2 ** 10', 1024],
  ['2 ** 53', 2 ** 53],
  ['-(2 ** 53)', -(2 ** 53)],
  ['0.1 + 0.2', 0.1 + 0.2],
  ['1e300', 1e300],
  ['"a" + "b"', 'ab'],
  ["'it''s'", 'its'],
  ['"\\u00e9"', 'é'],
  ['f"{data.text}: {data.n:03d}"', 'Ann: 007'],
  ['"%s is %d" % (data.text, data.n)', 'Ann is 7'],
  ['data.text.upper()[::-1]', 'NNA'],
  ['"yes" if data.n > 5 else "no"', 'yes'],
  ['None', null],
  ['True', true],
  ['not data.flag', false],
  ['data.nothing is None', true],
  ['(1, "a", None)', [1, 'a', null]],
  ['sorted({3, 1})', [1, 3]],
  ['{5}', [5]],
  ['{"k": [1, {"m": ()}]}', { k: [1, { m: [] }] }],
  ['{**data.deep.a, "z": 1}', { b: { c: 'here' }, z: 1 }],
  ['[*data.list, 9]', [3, 1, 2, 9]],
  ['(lambda x: x + 1)(data.n)', 8],
  ['dict((k, len(v)) for k, v in {"a": "xx"}.items())', { a: 2 }],
  ['math.floor(math.pi)', 3],
  ['json.loads("[1, 2]")', [1, 2]],
  ['json.dumps(data.list)', '[3, 1, 2]'],
  ['re.sub("n+", "N", data.text)', 'AN'],
  ['base64.b64encode(b"hi").decode()', 'aGk='],
  ['hashlib.sha256(b"").hexdigest()[:8]', 'e3b0c442'],
  ['0 <= random.random() < 1', true],
  ['len(str(uuid.uuid4()))', 36],
  ['datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)', '2020-01-02T03:04:05Z'],
  ['datetime(2020, 1, 2)', '2020-01-02T00:00:00'],
  ['date(2020, 2, 29)', '2020-02-29'],
  ['time(12, 30)', '12:30:00'],
  ['timedelta(minutes=1, seconds=0.5)', 60.5],
  ['datetime(2020, 1, 1) + timedelta(days=1)', '2020-01-02T00:00:00'],
  ['Decimal("1.10") + Decimal("2.20") == Decimal("3.30")', true],
  ['float(Decimal("1.5"))', 1.5],
  ['float("nan") != float("nan")', true],
  ['str(2 ** 64)', '18446744073709551616'],
  ['"😀"[0]', '😀'],
  ['len("😀")', 1],
  ['" leading"', ' leading'],
  ['context.Step.Id', 'step'],
  ['context.Step.Attempt', 1],
  ['context["Workflow"]["Version"]', 1],
  ['context.Workflow.Reference', null],
  ['context.Item', null],
  ['environment["GREETING"]', VISIBLE_ENVIRONMENT.GREETING],
  ['environment.get("NOT_THERE")', null],
  ['data', DATA],
];

everyStore('expressions', (at) => {
  it('returns the same values as Python', async () => {
    const { client } = at;
    // `data` itself comes last: as an output it would include what those before it wrote, so it has a step of its own.
    const rows = VALUES.slice(0, -1);
    const Outputs = Object.fromEntries(rows.map(([source], index) => [`r${index}`, source]));
    const { data } = await client.run(
      chain(compute('whole', { whole: 'data' }), compute('step', Outputs)),
      DATA,
    );
    for (const [index, [source, expected]] of rows.entries()) {
      expect(data[`r${index}`], source).toEqual(expected);
    }
    expect(data['whole']).toEqual(DATA);
  });

  itRuns(at, [
    {
      does: 'treats numbers, booleans, null and lists as constants',
      steps: chain(
        compute('c', { number: 5, real: 2.5, yes: true, no: false, nothing: null, negative: -3 }),
        step(
          'log',
          'EmitLog',
          { Message: [1, 'data.n', { '@n': 'data.n' }] },
          { Outputs: { list: 'step.Message' } },
        ),
      ),
      data: { n: 1 },
      gives: {
        n: 1,
        number: 5,
        real: 2.5,
        yes: true,
        no: false,
        nothing: null,
        negative: -3,
        list: [1, 'data.n', { n: 1 }],
      },
    },
    {
      does: 'evaluates the values in a map under keys that start with @, at every depth',
      steps: [
        step(
          'log',
          'EmitLog',
          {
            Message: {
              literal: 'data.n',
              '@evaluated': 'data.n',
              nested: { '@deep': 'data.n + 1', plain: 'x' },
              list: [{ '@in': 'data.n + 2' }, 'data.n', [{ '@deeper': 'data.n + 3' }]],
              '@constant': 9,
              '@@type': '"kept at"',
              '@graph': { inner: 'data.n', '@innerEvaluated': 'data.n' },
            },
          },
          { Outputs: { got: 'step.Message' } },
        ),
      ],
      data: { n: 1 },
      gives: {
        n: 1,
        got: {
          literal: 'data.n',
          evaluated: 1,
          nested: { deep: 2, plain: 'x' },
          list: [{ in: 3 }, 'data.n', [{ deeper: 4 }]],
          constant: 9,
          '@type': 'kept at',
          graph: { inner: 'data.n', innerEvaluated: 1 },
        },
      },
    },
    {
      does: 'accepts several lines',
      steps: [compute('c', { v: '(\n  data.n\n  + 1\n)', w: '\n data.n \n' })],
      data: { n: 1 },
      gives: { n: 1, v: 2, w: 1 },
    },
    {
      does: 'evaluates Outputs in order, each with the earlier ones; a dot is part of a name',
      steps: [
        compute('c', { a: 'data.n + 1', 'x.y': 'data.a + 1', b: 'data["x.y"] + 1', n: 'data.b' }),
      ],
      data: { n: 1 },
      gives: { n: 4, a: 2, 'x.y': 3, b: 4 },
    },
    {
      does: 'modifies no data as a side effect',
      steps: chain(
        compute('c', { popped: 'data.list.pop()' }),
        compute('d', { left: 'len(data.list)' }),
      ),
      data: { list: [1, 2] },
      gives: { list: [1, 2], popped: 2, left: 2 },
    },
    {
      does: 'reads all of the current data',
      steps: chain(
        compute('c', { before: 'data', n: '2', after: 'data' }),
        compute('d', { n: '3' }),
      ),
      data: { n: 1 },
      gives: { n: 3, before: { n: 1 }, after: { n: 2, before: { n: 1 } } },
    },
    {
      does: 'preserves JSON: large and small numbers, empty strings, unusual keys',
      steps: [compute('c', { copy: 'data["in"]' })],
      data: {
        in: {
          '': 0,
          ' ': -0.5,
          __proto__x: 1,
          '9': 9007199254740992,
          u: '\u0000\u2028"\\',
          e: 5e-324,
        },
      },
      gives: {
        in: {
          '': 0,
          ' ': -0.5,
          __proto__x: 1,
          '9': 9007199254740992,
          u: '\u0000\u2028"\\',
          e: 5e-324,
        },
        copy: {
          '': 0,
          ' ': -0.5,
          __proto__x: 1,
          '9': 9007199254740992,
          u: '\u0000\u2028"\\',
          e: 5e-324,
        },
      },
    },
  ]);

  it('reads the properties of the run', async () => {
    const { client } = at;
    const definition = await client.define([
      compute('c', {
        id: 'context.Workflow.Id',
        definition: 'context.Workflow.DefinitionId',
        version: 'context.Workflow.Version',
        reference: 'context.Workflow.Reference',
        start: 'context.Workflow.StartTime',
      }),
    ]);
    const id = await client.start(definition, {}, 'my reference');
    const { data, startTime } = await client.ended(id);
    expect(data).toEqual({
      id,
      definition,
      version: 1,
      reference: 'my reference',
      start: startTime,
    });
  });

  it('reads the environment, except hidden variables', async () => {
    const { data } = await at.client.run([compute('c', { names: 'sorted(environment.keys())' })]);
    expect(data['names']).toEqual(Object.keys(VISIBLE_ENVIRONMENT).sort());
  });

  describe("values that JSON can't represent", () => {
    itFails(
      at,
      (
        [
          ['float("nan")', /nan/i],
          ['float("inf")', /inf/i],
          ['[1, -float("inf")]', /inf/i],
          ['10 ** 1000', /integer has more than 1000 digits/],
          ['{"a": [-(10 ** 2000)]}', /integer has more than 1000 digits/],
          ['lambda: 1', /function/],
          ['object()', /object/],
          ['{1: 2, (1, 2): 3}', /key|tuple/i],
          ['b"bytes"', /bytes/],
          ['1j', /complex/],
        ] as const
      ).map(([source, message]) => ({ does: source, step: compute('s', { v: source }), message })),
    );
  });

  describe('failing expressions', () => {
    itFails(at, [
      {
        does: 'a missing attribute',
        step: compute('s', { v: 'data.a.missing' }),
        data: { a: {} },
        type: 'AttributeError',
        message: /missing/,
      },
      {
        does: 'a missing key',
        step: compute('s', { v: 'data["gone"]' }),
        type: 'KeyError',
        message: /gone/,
      },
      {
        does: 'an unknown name',
        step: compute('s', { v: 'unknown_name + 1' }),
        type: 'NameError',
        message: /unknown_name/,
      },
      {
        does: 'step outside of outputs',
        step: step('s', 'EmitLog', { Message: 'step.x' }),
        type: 'NameError',
        message: /step/,
      },
      { does: 'imports', step: compute('s', { v: '__import__("os").getcwd()' }), message: /./ },
      { does: 'files', step: compute('s', { v: 'open("/etc/passwd").read()' }), message: /./ },
    ]);
  });
});
