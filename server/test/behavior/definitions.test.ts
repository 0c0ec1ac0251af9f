/** Valid and invalid definitions, and how invalid ones are rejected. */
import { describe, expect, it } from 'vitest';
import type { RegisteredDefinition } from '../../src/api/wire/models/definition.js';
import type { Json, JsonObject } from '../../src/engine/values/json.js';
import { fresh } from './support/client.js';
import { everyStore } from './support/every-store.js';
import { mark, step } from './support/steps.js';

interface RefusedCase {
  readonly what: string;
  readonly definition: JsonObject;
  /** The codes of all problems, in any order. */
  readonly codes: readonly string[];
}

const of = (...Steps: JsonObject[]): JsonObject => ({ Id: 'd', Steps });

const REFUSED: readonly RefusedCase[] = [
  { what: 'without an Id', definition: { Steps: [mark('a')] }, codes: ['missing_id'] },
  { what: 'with an empty Id', definition: { Id: '', Steps: [mark('a')] }, codes: ['missing_id'] },
  { what: 'without Steps', definition: { Id: 'd' }, codes: ['no_steps'] },
  { what: 'with empty Steps', definition: { Id: 'd', Steps: [] }, codes: ['no_steps'] },
  {
    what: 'with a step without an Id',
    definition: of({ StepType: 'NoOp' }),
    codes: ['missing_step_id'],
  },
  { what: 'with a step without a type', definition: of({ Id: 'a' }), codes: ['missing_step_type'] },
  {
    what: 'with an unknown step type',
    definition: of(step('a', 'Nothing')),
    codes: ['unknown_step_type'],
  },
  {
    what: 'with duplicate step ids',
    definition: of(mark('a'), mark('a')),
    codes: ['duplicate_step_id'],
  },
  {
    what: 'with a nested step of the same id',
    definition: of(step('a', 'If', { Condition: 'True' }, { Do: [[mark('a')]] })),
    codes: ['duplicate_step_id'],
  },
  {
    what: 'with a compensation step of the same id',
    definition: of(mark('a', { CompensateWith: [mark('a')] })),
    codes: ['duplicate_step_id'],
  },
  {
    what: 'with a next step that does not exist',
    definition: of(mark('a', { NextStepId: 'b' })),
    codes: ['unknown_next_step'],
  },
  {
    what: 'with a selector that names no step',
    definition: of(mark('a', { SelectNextStep: { b: 'True' } })),
    codes: ['unknown_next_step'],
  },
  {
    what: 'with a next step in a different casing',
    definition: of(mark('a', { NextStepId: 'B' }), mark('b')),
    codes: ['unknown_next_step'],
  },
  {
    what: 'with an unknown input',
    definition: of(step('a', 'Delay', { Period: 1, Perriod: 2 })),
    codes: ['unknown_input'],
  },
  {
    what: 'with an input of a step type without inputs',
    definition: of(step('a', 'NoOp', { Message: '1' })),
    codes: ['unknown_input'],
  },
  ...(
    [
      ['EmitLog', 'Message'],
      ['If', 'Condition'],
      ['While', 'Condition'],
      ['Foreach', 'Collection'],
      ['Delay', 'Period'],
      ['Schedule', 'Interval'],
      ['Recur', 'Interval'],
      ['Activity', 'ActivityName'],
      ['HttpRequest', 'BaseUrl'],
      ['SubWorkflow', 'DefinitionId'],
    ] as const
  ).map(([type, input]) => ({
    what: `with ${type} without ${input}`,
    definition: of(step('a', type)),
    codes: ['missing_input'],
  })),
  {
    what: 'with WaitFor without its two inputs',
    definition: of(step('a', 'WaitFor')),
    codes: ['missing_input', 'missing_input'],
  },
  {
    what: 'with Steps that are not a list',
    definition: { Id: 'd', Steps: 'a' },
    codes: ['wrong_type'],
  },
  {
    what: 'with a step that is not a map',
    definition: { Id: 'd', Steps: ['a'] },
    codes: ['wrong_type'],
  },
  {
    what: 'with Inputs that are not a map',
    definition: of({ Id: 'a', StepType: 'NoOp', Inputs: ['x'] }),
    codes: ['wrong_type'],
  },
  {
    what: 'with Outputs that are not a map',
    definition: of({ Id: 'a', StepType: 'NoOp', Outputs: 'x' }),
    codes: ['wrong_type'],
  },
  {
    what: 'with an output that is a map to evaluate',
    definition: of({ Id: 'a', StepType: 'NoOp', Outputs: { x: { '@y': '1' } } }),
    codes: ['wrong_type'],
  },
  {
    what: 'with SelectNextStep that is not a map',
    definition: of({ Id: 'a', StepType: 'NoOp', SelectNextStep: ['a'] }),
    codes: ['wrong_type'],
  },
  {
    what: 'with Do that is not a list',
    definition: of({ Id: 'a', StepType: 'Parallel', Do: 'x' }),
    codes: ['wrong_type'],
  },
  {
    what: 'with an id that is a list',
    definition: of({ Id: ['a'], StepType: 'NoOp' }),
    codes: ['wrong_type'],
  },
  {
    what: 'with an unknown error behavior',
    definition: of(mark('a', { ErrorBehavior: 'Panic' })),
    codes: ['invalid_value'],
  },
  {
    what: 'with an unknown default error behavior',
    definition: { ...of(mark('a')), DefaultErrorBehavior: 'Panic' },
    codes: ['invalid_value'],
  },
  {
    what: 'with an invalid interval',
    definition: of(mark('a', { RetryInterval: 'soon' })),
    codes: ['invalid_value'],
  },
  {
    what: 'with negative retries',
    definition: of(mark('a', { MaxRetries: -1 })),
    codes: ['invalid_value'],
  },
  {
    what: 'with a jitter above 1',
    definition: of(mark('a', { RetryJitter: 1.5 })),
    codes: ['invalid_value'],
  },
  {
    what: 'with a backoff below 1',
    definition: of(mark('a', { RetryBackoff: 0.5 })),
    codes: ['invalid_value'],
  },
  {
    what: 'with Retry as OnRetriesExhausted',
    definition: of(mark('a', { OnRetriesExhausted: 'Retry' })),
    codes: ['invalid_value'],
  },
  {
    what: 'with a constant that is an invalid duration',
    definition: of(step('a', 'Delay', { Period: '"soon"' })),
    codes: ['invalid_value'],
  },
];

const EXPRESSIONS: readonly (readonly [string, JsonObject, RegExp])[] = [
  ['an input', step('a', 'EmitLog', { Message: 'data.x +' }), /[iI]nputs\/[mM]essage/],
  ['an input inside a map', step('a', 'EmitLog', { Message: { deep: [{ '@x': '1 1' }] } }), /@x/],
  ['an output', mark('a', { Outputs: { v: 'if' } }), /[oO]utputs\/v/],
  ['a selector', mark('a', { SelectNextStep: { a: '(' } }), /[sS]electNextStep\/a/],
  ['a cancel condition', mark('a', { CancelCondition: 'x y' }), /[cC]ancelCondition/],
  [
    'a nested step',
    step('p', 'Parallel', {}, { Do: [[mark('a', { Outputs: { v: 'a = 1' } })]] }),
    /[dD]o\/0\/0/,
  ],
  [
    'a compensation',
    mark('p', { CompensateWith: [mark('a', { Outputs: { v: 'import os' } })] }),
    /[cC]ompensateWith\/0/,
  ],
];

everyStore('definitions', (at) => {
  it.each(REFUSED)('rejects a definition $what', async ({ codes, definition }) => {
    const { client } = at;
    const Id = 'Id' in definition && definition['Id'] !== '' ? { Id: fresh('refused') } : {};
    const answer = await client.postDefinition({ ...definition, ...Id });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.code).toBe('invalid_definition');
    expect(answer.body.errors!.map(({ code }) => code).sort()).toEqual([...codes].sort());
    for (const { message, pointer } of answer.body.errors!) {
      expect(message).toMatch(/\w/);
      expect(pointer).toBeTypeOf('string');
    }
    if ('Id' in Id) expect((await client.get(`/api/definition/${Id.Id}`)).status).toBe(404);
  });

  it.each(EXPRESSIONS)('rejects a Python error in %s', async (_, wrong, pointer) => {
    const answer = await at.client.postDefinition({ Id: fresh('refused'), Steps: [wrong] });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.errors).toHaveLength(1);
    expect(answer.body.errors![0]!.pointer).toMatch(pointer);
    expect(answer.body.errors![0]!.code).toMatch(/syntax|expression|python/);
  });

  it('reports all problems at once', async () => {
    const answer = await at.client.postDefinition({
      Steps: [
        step('a', 'Dellay', {}, { NextStepId: 'x' }),
        step('a', 'Delay', { Period: '1 +', Foo: 1 }),
        mark('b', { ErrorBehavior: 5, RetryInterval: true, Outputs: { v: ')' } }),
      ],
    });
    const codes = answer.body.errors!.map(({ code }) => code);
    expect(codes).toEqual(
      expect.arrayContaining([
        'missing_id',
        'unknown_step_type',
        'unknown_next_step',
        'duplicate_step_id',
        'unknown_input',
      ]),
    );
    expect(codes.length).toBeGreaterThanOrEqual(8);
  });

  it.each<[string, Json]>([
    ['a list', [1]],
    ['a string', 'text'],
    ['null', null],
    ['a number', 5],
  ])('rejects a definition that is %s', async (_, document) => {
    const answer = await at.client.post('/api/definition', document);
    expect(answer.status, answer.text).toBe(400);
  });

  it.each<[string, JsonObject, string[]]>([
    [
      'unknown members',
      { Id: 'd', Colour: 'red', Steps: [{ ...mark('a'), NextStep: 'b' }] },
      ['unknown_member', 'unknown_member'],
    ],
    [
      'unreachable steps',
      of(mark('a'), mark('b'), step('p', 'Parallel', {}, { Do: [[mark('c')]] })),
      ['unreachable_step', 'unreachable_step', 'unreachable_step'],
    ],
  ])('accepts a definition with a warning about %s', async (_, definition, codes) => {
    const answer = await at.client.postDefinition<RegisteredDefinition>({
      ...definition,
      Id: fresh('odd'),
    });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.warnings.map(({ code }) => code).sort()).toEqual(codes);
    for (const { pointer } of answer.body.warnings) expect(pointer).toMatch(/^\//);
  });

  it('accepts nested and earlier steps as next steps', async () => {
    const { data } = await at.client.run([
      mark('a', { NextStepId: 'box' }),
      step(
        'box',
        'If',
        { Condition: 'True' },
        {
          Do: [
            [
              mark('b', {
                SelectNextStep: { b: 'len(data.trail) < 4', c: 'len(data.trail) >= 4' },
              }),
              mark('c'),
            ],
          ],
        },
      ),
    ]);
    expect(data['trail']).toEqual(['a', 'b', 'b', 'b', 'c']);
  });

  it('continues with a nested step from outside', async () => {
    const { data } = await at.client.run([
      mark('a', { NextStepId: 'inner' }),
      step('box', 'Parallel', {}, { Do: [[mark('inner')]] }),
    ]);
    expect(data['trail']).toEqual(['a', 'inner']);
  });

  describe('a custom step', () => {
    it("is available once it's posted", async () => {
      const { client } = at;
      const name = fresh('later');
      const definition = { Id: fresh('uses'), Steps: [step('a', name)] };
      expect((await client.postDefinition(definition)).status).toBe(400);
      await client.call('POST', `/api/step/${name}`, { body: 'x = 1', type: 'text/x-python' });
      expect((await client.postDefinition(definition)).status).toBe(201);
    });
  });
});
