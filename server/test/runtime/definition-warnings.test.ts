/** Questionable definitions, by code and position, and similar ones that are fine. */
import { describe, expect, it } from 'vitest';
import { documentWith, documentWithInputs } from '../engine/definitions/documents.js';
import { checkDocument } from './support/checked-definition.js';

async function found(document: unknown): Promise<readonly string[]> {
  const { errors, warnings } = await checkDocument(document);
  expect(errors).toEqual([]);
  return warnings.map(({ code, pointer }) => `${code} ${pointer.replace('/Steps/0/', '')}`);
}

const activity = (name: unknown) => documentWithInputs('Activity', { ActivityName: name });
const outputs = (source: unknown, stepType = 'NoOp', inputs: object = {}) =>
  documentWith({ Id: 'a', StepType: stepType, Inputs: inputs, Outputs: { x: source } });
const select = (condition: unknown) =>
  documentWith(
    { Id: 'a', StepType: 'NoOp', SelectNextStep: { b: condition } },
    { Id: 'b', StepType: 'NoOp' },
  );
const custom = (value: unknown) => documentWithInputs('custom', { i: value });
const wait = { EventName: "'e'", EventKey: "'k'" };

describe('the check of names', () => {
  it.each([
    [activity('charge-card'), 'unquoted_text', "'charge-card'"],
    [activity('chargeCard'), 'unquoted_text', "'chargeCard'"],
    [documentWithInputs('Delay', { Period: 'PT5S' }), 'unquoted_text', "'PT5S'"],
    [documentWithInputs('EmitLog', { Message: 'Hello' }), 'unknown_name', "'Hello'"],
    [outputs('true'), 'unknown_name', 'True'],
    [outputs('null'), 'unknown_name', 'None'],
    [outputs('dta.x + dta.y'), 'unknown_name', 'data.x + data.y'],
    [outputs('Data.x'), 'unknown_name', 'data.x'],
    [outputs('stp.Result', 'custom'), 'unknown_name', 'step.Result'],
    [outputs('foo(x)'), 'unknown_name', undefined],
    [custom('step.x'), 'unknown_name', undefined],
    [outputs('step.EventDta', 'WaitFor', wait), 'unknown_field', undefined],
    [outputs('step.x'), 'unknown_field', undefined],
    [select('step.x > 1'), 'unknown_field', undefined],
    [outputs('context.Workflow.Nam'), 'unknown_field', undefined],
    [outputs('context.item'), 'unknown_field', undefined],
  ])('warns: %# %o', async (document, code, suggestion) => {
    const { warnings } = await checkDocument(document);
    expect(warnings).toMatchObject([{ code, ...(suggestion !== undefined && { suggestion }) }]);
    if (suggestion === undefined) expect(warnings[0]).not.toHaveProperty('suggestion');
  });

  it.each([
    activity('"charge-card"'),
    activity('data.a-data.b'),
    outputs('[x for x in data.l]'),
    outputs('step.anything', 'custom'),
    outputs('step.EventData["x"].y', 'WaitFor', wait),
    outputs('step.get("EventData")', 'WaitFor', wait),
    outputs('context.Step.IdempotencyKey + context.Step.Id'),
    outputs('context.Item.whatever + context.get("Index")'),
    outputs('step.get("x")'),
  ])('accepts: %#', async (document) => {
    expect(await found(document)).toEqual([]);
  });
});

describe('the check of strings that are not evaluated', () => {
  it.each([
    [custom({ a: 'data.x' }), ['missing_at_sign Inputs/i/a']],
    [custom({ a: { b: [{ c: '"Hello " + data.name' }] } }), ['missing_at_sign Inputs/i/a/b/0/c']],
    [custom(['data.x', 'step.y']), ['missing_at_sign Inputs/i/0', 'missing_at_sign Inputs/i/1']],
    [custom({ '@a': 'data.x', b: 'environment["TOKEN"]' }), ['missing_at_sign Inputs/i/b']],
  ])('warns if they look like expressions: %#', async (document, warnings) => {
    expect(await found(document)).toEqual(warnings);
  });

  it('suggests the right key in its message', async () => {
    const { warnings } = await checkDocument(custom({ 'a/b': 'data.x' }));
    expect(warnings).toMatchObject([{ suggestion: '@a/b' }]);
  });

  it.each([
    'See data.x for more.',
    'data.csv',
    'data.x is high',
    'the context.',
    'database.host',
    'data',
    'https://example.com/data.html',
    'step.by.step instructions',
  ])('accepts plain text: %j', async (text) => {
    expect(await found(custom({ a: text }))).toEqual([]);
  });
});

describe('the check of changes in place and of conditions', () => {
  it.each([
    [outputs('data.l.append(4)'), ['change_without_effect Outputs/x']],
    [outputs('sorted(data.l)'), []],
    [select('False'), ['constant_condition SelectNextStep/b']],
    [select(false), ['constant_condition SelectNextStep/b']],
    [select('"a" == "b"'), ['constant_condition SelectNextStep/b']],
    [select("'approved'"), ['constant_condition SelectNextStep/b']],
    [select('1 == 1'), ['constant_condition SelectNextStep/b']],
    [select('not False'), ['constant_condition SelectNextStep/b']],
    [select(1), ['constant_condition SelectNextStep/b']],
    [select(' True '), []],
    [select(true), []],
    [select('data.ok'), []],
  ])('warns: %#', async (document, warnings) => {
    expect(await found(document)).toEqual(warnings);
  });
});

describe('the check of cancel conditions', () => {
  const canceled = (CancelCondition: unknown) =>
    documentWith({ Id: 'a', StepType: 'NoOp', CancelCondition });

  it.each([
    ['datetime.now().timestamp() >= data.deadline', ['condition_on_time']],
    ['datetime . utcnow ( ) > data.x', ['condition_on_time']],
    ['date.today().isoformat() > data.day', ['condition_on_time']],
    ['datetime.fromisoformat(data.at) > datetime(2030, 1, 1)', []],
    ['data.now()', []],
    ['data.withdrawn', []],
    ['random.random() > 0.5', []],
  ])('warns if only time can make the condition true: %s', async (condition, codes) => {
    const { warnings } = await checkDocument(canceled(condition));
    expect(warnings.map(({ code }) => code)).toEqual(codes);
    for (const { pointer, message } of warnings) {
      expect([pointer, message]).toEqual([
        '/Steps/0/CancelCondition',
        expect.stringContaining('set its Timeout'),
      ]);
    }
  });
});

describe('the check of retry settings', () => {
  const step = (members: object) => ({ Id: 'a', StepType: 'NoOp', ...members });
  const inSaga = (members: object) =>
    documentWith({ Id: 's', StepType: 'Sequence', Saga: true, Do: [[step(members)]] });

  it.each([
    documentWith(step({ ErrorBehavior: 'Suspend', RetryBackoff: 2 })),
    documentWith(step({ ErrorBehavior: 'Terminate', MaxRetries: 3, RetryInterval: 'PT1S' })),
    { ...documentWith(step({ RetryInterval: 5 })), DefaultErrorBehavior: 'Terminate' },
    documentWith(step({ RetryInterval: 5, CompensateWith: [{ Id: 'c', StepType: 'NoOp' }] })),
    inSaga({ RetryInterval: 5 }),
    { ...documentWith(step({})), DefaultErrorBehavior: 'Suspend', DefaultErrorRetryInterval: 5 },
    {
      ...documentWith(step({ ErrorBehavior: 'Terminate' })),
      DefaultErrorBehavior: 'Retry',
      DefaultErrorRetryInterval: 5,
    },
    { ...documentWith(step({ RetryInterval: 5 })), DefaultErrorRetryInterval: 5 },
    { ...inSaga({}), DefaultErrorRetryInterval: 5 },
  ])('warns if they have no effect: %#', async (document) => {
    const { warnings } = await checkDocument(document);
    expect(warnings.map(({ code }) => code)).toEqual(['retry_without_effect']);
  });

  it.each([
    documentWith(step({ RetryInterval: 5 })),
    documentWith(step({ ErrorBehavior: 'Retry', RetryInterval: 5, MaxRetries: 1 })),
    { ...documentWith(step({ MaxRetries: 5 })), DefaultErrorBehavior: 'Terminate' },
    inSaga({ RetryBackoff: 2, RetryInterval: 5 }),
    inSaga({ ErrorBehavior: 'Retry', RetryInterval: 5 }),
    { ...documentWith(step({})), DefaultErrorRetryInterval: 5 },
    { ...inSaga({ MaxRetries: 2 }), DefaultErrorRetryInterval: 5 },
    {
      ...documentWith(step({ ErrorBehavior: 'Retry' })),
      DefaultErrorBehavior: 'Terminate',
      DefaultErrorRetryInterval: 5,
    },
  ])('accepts them if they have an effect: %#', async (document) => {
    expect(await found(document)).toEqual([]);
  });
});

describe('the check of loops', () => {
  const loop = (condition: unknown, ...body: object[]) =>
    documentWith({ Id: 'w', StepType: 'While', Inputs: { Condition: condition }, Do: [body] });
  const delay = { Id: 'd', StepType: 'Delay', Inputs: { Period: 1 } };
  const count = { Id: 'c', StepType: 'NoOp', Outputs: { i: 'data.i + 1' } };

  it.each([
    loop('True', count),
    loop('data.status != "done"', count),
    loop('data.i < 3', { Id: 'n', StepType: 'NoOp' }),
    documentWith({ ...count, NextStepId: 'c' }),
    documentWith(
      { ...count, NextStepId: 'd' },
      { Id: 'd', StepType: 'NoOp', SelectNextStep: { c: 'data.again' } },
    ),
  ])('warns if they never wait and never end: %#', async (document) => {
    const { warnings } = await checkDocument(document);
    expect(warnings.map(({ code }) => code)).toEqual(['loop_without_wait']);
  });

  it.each([
    loop('True', { ...count, NextStepId: 'd' }, delay),
    loop('data.i < 3', count),
    loop('data.i < 3', { Id: 'p', StepType: 'Parallel', Do: [[count]] }),
    loop('random.random() < 0.5', { Id: 'n', StepType: 'NoOp' }),
    documentWith({ ...count, NextStepId: 'd' }, { ...delay, NextStepId: 'c' }),
    documentWith({ ...count, SelectNextStep: { c: 'data.i < 3' } }),
    documentWith({ Id: 'c', StepType: 'custom', SelectNextStep: { c: 'step.more' } }),
    documentWith({ ...count, CancelCondition: 'data.stop', NextStepId: 'c' }),
  ])('accepts them if they wait or end: %#', async (document) => {
    expect(await found(document)).toEqual([]);
  });

  const inside = { Do: [[{ ...count, Id: 'i' }]] };
  it.each([
    { StepType: 'Delay', Inputs: { Period: 1 } },
    { StepType: 'Schedule', Inputs: { Interval: 1 }, ...inside },
    { StepType: 'Recur', Inputs: { Interval: 1 }, ...inside },
    { StepType: 'WaitFor', Inputs: wait },
    { StepType: 'Activity', Inputs: { ActivityName: "'n'" } },
    { StepType: 'HttpRequest', Inputs: { BaseUrl: "'http://localhost'" } },
    { StepType: 'SubWorkflow', Inputs: { DefinitionId: "'child'" } },
    { StepType: 'Fail', Inputs: { Message: "'stop'" } },
  ])('accepts one that contains $StepType', async (step) => {
    expect(await found(loop('True', { Id: 's', ...step }))).toEqual([]);
  });

  it.each([
    { StepType: 'EmitLog', Inputs: { Message: "'m'" } },
    { StepType: 'Parallel', ...inside },
    { StepType: 'custom' },
  ])('warns if one contains only $StepType', async (step) => {
    expect(await found(loop('True', { Id: 's', ...step }))).toEqual(['loop_without_wait /Steps/0']);
  });
});

describe('the check of waits in a saga', () => {
  const saga = (step: object, members: object = {}) =>
    documentWith({
      Id: 's',
      StepType: 'Sequence',
      Saga: true,
      Do: [[{ Id: 'a', StepType: 'Activity', Inputs: { ActivityName: "'n'" }, ...step }]],
      ...members,
    });
  it.each([
    [saga({}), ['wait_without_timeout Do/0/0']],
    [saga({ Timeout: 'PT1H' }), []],
    [saga({}, { Timeout: 'PT1H' }), []],
    [saga({ Inputs: { ActivityName: "'n'", Timeout: 60 } }), []],
    [saga({ CancelCondition: 'data.stop' }), []],
    [saga({}, { Saga: false }), []],
  ])('warns: %#', async (document, warnings) => {
    expect(await found(document)).toEqual(warnings);
  });
});

describe('the list of warnings', () => {
  it('is limited to a hundred', async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [`@${at}`, `x${at}`]),
    );
    const { warnings } = await checkDocument(custom(fields));
    expect(warnings).toHaveLength(101);
    expect(warnings.at(-1)).toMatchObject({ code: 'too_many_problems', pointer: '' });
  });
});

describe('the check of data fields', () => {
  const Input = {
    required: ['id'],
    properties: {
      id: { type: 'string' },
      customer: { $ref: '#/$defs/customer' },
      items: { items: { properties: { sku: {} } } },
      open: { properties: { a: {} }, additionalProperties: true },
    },
    anyOf: [{ properties: { card: {} } }, { properties: { iban: {} } }],
    $defs: { customer: { properties: { name: {} }, allOf: [{ properties: { mail: {} } }] } },
  };
  const reading = (source: string, more: object = {}) => ({
    ...documentWith({ Id: 'a', StepType: 'NoOp', Outputs: { x: source } }),
    Input,
    ...more,
  });

  it.each([
    ['data.idd', 'data.id', /"data.idd"; the fields are id, .*Did you mean "id"\?$/],
    ['data.customer.namee + "x"', 'data.customer.name + "x"', /"data.customer.namee"/],
    ['data["customer"]["maiil"]', undefined, /"data.customer.maiil"/],
    ['len(data.nothing_like_it)', undefined, /"data.nothing_like_it"/],
  ])('warns about %s', async (source, suggestion, message) => {
    const { warnings } = await checkDocument(reading(source));
    const [warning, ...others] = warnings;
    expect(others).toEqual([]);
    expect(warning).toMatchObject({ code: 'unknown_field', pointer: '/Steps/0/Outputs/x' });
    expect([warning?.suggestion, warning?.message]).toEqual([
      suggestion,
      expect.stringMatching(message),
    ]);
  });

  it.each([
    'data.id + data.customer.mail + data.card + data.iban',
    'data.items[0].sku + data.items[0].anything',
    'data.open.whatever + data.id.upper()',
    'data.get("z") or data.x',
  ])('accepts %s', async (source) => {
    expect(await found(reading(source))).toEqual([]);
  });

  it('accepts everything where Input says nothing about members, or allows others', async () => {
    for (const schema of [true, { required: ['a'] }, { ...Input, additionalProperties: {} }]) {
      expect(await found(reading('data.zzz', { Input: schema }))).toEqual([]);
    }
  });

  it('warns about fields of the index', async () => {
    const Index = { ok: 'data.customer.name', wrong: 'data.customer.nam', x: 'data.x.y' };
    const { warnings } = await checkDocument(reading('data.id', { Index }));
    expect(warnings).toMatchObject([
      { code: 'unknown_field', pointer: '/Index/wrong', suggestion: 'data.customer.name' },
    ]);
  });

  it('takes little time for a large schema and many expressions', async () => {
    const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`f${n}`, {}]));
    const Outputs = Object.fromEntries(
      Array.from({ length: 5000 }, (_, n) => [`o${n}`, `data.f${n % 2000} + data.nope`]),
    );
    const steps = documentWith({ Id: 'a', StepType: 'NoOp', Outputs });
    const { warnings } = await checkDocument({ ...steps, Input: { properties } });
    expect(warnings).toHaveLength(101);
  });
});
