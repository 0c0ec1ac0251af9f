/**
 * Goal: a posted document becomes the definition that the engine runs, in any casing.
 * Method: documents with their expected definitions. Rejected ones, values and properties have their own tests.
 */
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import {
  documentWith,
  documentWithInputs,
  documentWithStep,
  parseStepA,
  parseValid,
} from './documents.js';

describe('parseDefinition — definition members', () => {
  it('fills in the defaults of a minimal document', () => {
    expect(parseValid({ Id: 'w', Steps: [{ Id: 'a', StepType: 'NoOp' }] })).toEqual({
      id: 'w',
      version: 0,
      description: null,
      defaultErrorBehavior: 'Retry',
      input: null,
      index: new Map(),
      tags: {},
      reference: null,
      onConflict: null,
      conflictScope: null,
      priority: null,
      fairness: null,
      concurrency: null,
      retentionMs: null,
      triggers: [],
      entryStepId: 'a',
      steps: new Map([
        [
          'a',
          {
            id: 'a',
            place: { container: null, compensates: null },
            type: 'NoOp',
            typeName: 'NoOp',
            name: null,
            nextStepId: null,
            selectNextStep: [],
            inputs: [],
            outputs: [],
            do: [],
            cancelCondition: null,
            proceedOnCancel: false,
            errorBehavior: null,
            retryIntervalMs: 60_000,
            maxRetries: null,
            retryBackoff: 1,
            retryJitter: 0,
            retriesFirst: false,
            onRetriesExhausted: null,
            nonRetryable: [],
            timeoutMs: null,
            limits: [],
            compensateWith: null,
            saga: false,
            graceMs: null,
          },
        ],
      ]),
    });
  });

  it('reads the retention of ended runs, from one second', () => {
    const steps = [{ Id: 'a', StepType: 'NoOp' }];
    const retentionOf = (Retention: unknown) => {
      const { definition, errors } = parseDefinition({ Id: 'w', Retention, Steps: steps });
      return definition?.retentionMs ?? errors.map(({ code, pointer }) => `${code} ${pointer}`);
    };
    const good = [1, 'P30D', '00:10:00', 1.0005].map(retentionOf);
    expect(good).toEqual([1000, 30 * 86_400_000, 600_000, 1001]);
    for (const bad of [0, 0.999, '00:00:00.5', -1, 'soon'])
      expect(retentionOf(bad)).toEqual(['invalid_value /Retention']);
    expect([true, {}, [1]].map(retentionOf)).toEqual(Array(3).fill(['wrong_type /Retention']));
  });

  it('ignores the posted version and uses the one that the server assigns', () => {
    const document = { ...documentWithStep({}), Version: 'seven' };
    expect(parseValid(document, { version: 3 }).version).toBe(3);
    expect(parseDefinition(document).warnings).toEqual([]);
  });

  it('reads every member', () => {
    const definition = parseValid({
      Id: 'w',
      Description: 'what it does',
      DefaultErrorBehavior: 'Suspend',
      DefaultErrorRetryInterval: '00:00:10',
      Steps: [
        {
          Id: 'a',
          StepType: 'Parallel',
          Name: 'first',
          NextStepId: 'b',
          SelectNextStep: { b: 'data.n > 1', d: true },
          Outputs: { x: 'data.y', '__proto__.z': 1 },
          Do: [[{ Id: 'c', StepType: 'NoOp', RetryInterval: 'PT1S' }]],
          CancelCondition: 'data.stop',
          ProceedOnCancel: true,
          ErrorBehavior: 'Retry',
          RetryInterval: 5,
          MaxRetries: 3,
          RetryBackoff: 1.5,
          OnRetriesExhausted: 'Compensate',
          NonRetryable: ['ValueError', ' Declined '],
          Timeout: '1.00:00:00',
          CompensateWith: [{ Id: 'e', StepType: 'NoOp' }],
          Saga: true,
          Grace: '2m',
        },
        { Id: 'b', StepType: 'NoOp' },
        { Id: 'd', StepType: 'Custom One' },
      ],
    });
    expect(definition).toMatchObject({
      id: 'w',
      description: 'what it does',
      defaultErrorBehavior: 'Suspend',
      entryStepId: 'a',
    });
    expect([...definition.steps.keys()]).toEqual(['a', 'c', 'e', 'b', 'd']);
    expect(definition.steps.get('a')).toEqual({
      id: 'a',
      place: { container: null, compensates: null },
      type: 'Parallel',
      typeName: 'Parallel',
      name: 'first',
      nextStepId: 'b',
      selectNextStep: [
        { stepId: 'b', condition: { kind: 'expression', source: 'data.n > 1' } },
        { stepId: 'd', condition: { kind: 'constant', value: true } },
      ],
      inputs: [],
      outputs: [
        { key: 'x', value: { kind: 'expression', source: 'data.y' } },
        { key: '__proto__.z', value: { kind: 'constant', value: 1 } },
      ],
      do: ['c'],
      cancelCondition: { kind: 'expression', source: 'data.stop' },
      proceedOnCancel: true,
      errorBehavior: 'Retry',
      retryIntervalMs: 5000,
      maxRetries: 3,
      retryBackoff: 1.5,
      retryJitter: 0,
      retriesFirst: true,
      onRetriesExhausted: 'Compensate',
      nonRetryable: ['ValueError', 'Declined'],
      timeoutMs: 86_400_000,
      limits: [],
      compensateWith: 'e',
      saga: true,
      graceMs: 120_000,
    });
    expect(definition.steps.get('b')!.retryIntervalMs).toBe(10_000);
    expect(definition.steps.get('c')!.retryIntervalMs).toBe(1000);
    expect(definition.steps.get('d')).toMatchObject({ type: null, typeName: 'Custom One' });
  });
});

describe('parseDefinition — leniency', () => {
  it('treats null as absent for every optional member', () => {
    const absent = [
      'Name NextStepId SelectNextStep Inputs Outputs Do CancelCondition ProceedOnCancel ErrorBehavior RetryInterval',
      'MaxRetries RetryBackoff OnRetriesExhausted NonRetryable Timeout Limits CompensateWith Saga',
    ].flatMap((line) => line.split(' '));
    const nulls = Object.fromEntries(absent.map((name) => [name, null]));
    const document = { ...documentWithStep(nulls), Description: null, DefaultErrorBehavior: null };
    expect(parseDefinition(document)).toEqual(parseDefinition(documentWithStep({})));
  });

  it.each([
    ['foreach', 'Foreach'],
    ['ForEach', 'Foreach'],
    [' FOREACH ', 'Foreach'],
    ['httprequest', 'HttpRequest'],
  ])('reads the step type %j as %s', (spelling, type) => {
    const inputs = type === 'Foreach' ? { Collection: '[1]' } : { BaseUrl: '"http://x"' };
    const step = parseStepA(documentWithInputs(spelling, inputs));
    expect(step).toMatchObject({ type, typeName: type });
  });

  it.each([
    ['retry', 'Retry'],
    ['SUSPEND', 'Suspend'],
    [0, 'Retry'],
    [1, 'Suspend'],
    [2, 'Terminate'],
    [3, 'Compensate'],
    ['3', 'Compensate'],
  ])('reads the error behavior %j as %s', (posted, expected) => {
    expect(parseStepA(documentWithStep({ ErrorBehavior: posted })).errorBehavior).toBe(expected);
  });

  it.each([
    [true, true],
    ['True', true],
    ['false', false],
  ])('reads the flag %j as %s', (posted, expected) => {
    expect(parseStepA(documentWithStep({ Saga: posted })).saga).toBe(expected);
  });

  it('accepts numbers as ids and names, as in unquoted YAML', () => {
    const definition = parseValid({
      Id: 7,
      Steps: [
        { Id: 1, Name: 5, StepType: 'NoOp', NextStepId: 2 },
        { Id: 2, StepType: 'NoOp' },
      ],
    });
    expect(definition.id).toBe('7');
    expect(definition.steps.get('1')).toMatchObject({ name: '5', nextStepId: '2' });
  });

  it('reads a flat list in Do as one sequence', () => {
    const inner = [
      { Id: 'x', StepType: 'NoOp', NextStepId: 'y' },
      { Id: 'y', StepType: 'NoOp' },
    ];
    const flat = parseDefinition(documentWithStep({ StepType: 'Sequence', Do: inner }));
    const nested = parseDefinition(documentWithStep({ StepType: 'Sequence', Do: [inner] }));
    expect(flat.definition!.steps.get('a')!.do).toEqual(['x']);
    expect(flat.canonical).toEqual(nested.canonical);
    expect(flat.definition).toEqual(nested.definition);
  });

  it('drops sequences without steps', () => {
    const document = documentWithStep({
      StepType: 'Parallel',
      Do: [[], [{ Id: 'x', StepType: 'NoOp' }], []],
    });
    expect(parseStepA(document).do).toEqual(['x']);
  });

  it('treats a blank NextStepId as absent', () => {
    const document = documentWithStep({ NextStepId: ' ' });
    expect(parseStepA(document).nextStepId).toBeNull();
    expect(parseDefinition(document)).toEqual(parseDefinition(documentWithStep({})));
  });

  it('lets a step name any other step, including earlier ones and steps inside containers', () => {
    const definition = parseValid(
      documentWith(
        { Id: 'a', StepType: 'Sequence', Do: [[{ Id: 'b', StepType: 'NoOp', NextStepId: 'a' }]] },
        { Id: 'c', StepType: 'NoOp', NextStepId: 'b' },
      ),
    );
    expect(definition.steps.get('b')!.nextStepId).toBe('a');
  });
});

describe('parseDefinition — inputs', () => {
  it('gives the inputs of built-in steps their canonical names and drops nulls', () => {
    const document = documentWithInputs('HttpRequest', {
      METHOD: "'POST'",
      baseurl: '"http://x"',
      body: null,
    });
    expect(parseStepA(document).inputs).toEqual([
      { name: 'Method', value: { kind: 'expression', source: "'POST'" } },
      { name: 'BaseUrl', value: { kind: 'expression', source: '"http://x"' } },
    ]);
  });

  it('keeps the inputs of custom steps unchanged, including nulls', () => {
    const document = documentWithInputs('my step', { message: '1', Message: null });
    expect(parseStepA(document).inputs).toEqual([
      { name: 'message', value: { kind: 'expression', source: '1' } },
      { name: 'Message', value: { kind: 'constant', value: null } },
    ]);
  });
});

describe('parseDefinition — further results', () => {
  it('lists every expression with its path', () => {
    const parsed = parseDefinition({
      Id: 'w',
      Steps: [
        {
          Id: 'a',
          StepType: 'If',
          Inputs: { Condition: ' data.x ' },
          Outputs: { 'a/b~c': 'step.y' },
          SelectNextStep: { b: 'data.z' },
          CancelCondition: 'data.c',
          Do: [[{ Id: 'b', StepType: 'custom', Inputs: { g: { '@k': 'data.k', l: 'literal' } } }]],
        },
      ],
    });
    expect(parsed.expressions).toMatchObject([
      { source: 'data.z', pointer: '/Steps/0/SelectNextStep/b' },
      { source: 'data.x', pointer: '/Steps/0/Inputs/Condition' },
      { source: 'step.y', pointer: '/Steps/0/Outputs/a~1b~0c' },
      { source: 'data.k', pointer: '/Steps/0/Do/0/0/Inputs/g/@k' },
      { source: 'data.c', pointer: '/Steps/0/CancelCondition' },
    ]);
    expect(parsed.customSteps).toEqual([{ name: 'custom', pointer: '/Steps/0/Do/0/0/StepType' }]);
  });

  it('lists expressions even if it rejects the document', () => {
    const parsed = parseDefinition({ Steps: [{ StepType: 'x', Inputs: { a: 'data.b' } }] });
    expect(parsed.expressions).toMatchObject([{ source: 'data.b', pointer: '/Steps/0/Inputs/a' }]);
    expect(parsed).toMatchObject({ definition: null, canonical: null });
  });

  it('lists the custom steps that must exist', () => {
    const document = documentWith(
      { Id: 'a', StepType: ' known ', NextStepId: 'b' },
      { Id: 'b', StepType: 'Known' },
    );
    expect(parseDefinition(document).customSteps).toEqual([
      { name: 'known', pointer: '/Steps/0/StepType' },
      { name: 'Known', pointer: '/Steps/1/StepType' },
    ]);
  });
});

describe('parseDefinition — canonical form', () => {
  it('has camelCase members in a fixed order, unchanged values and unchanged user-defined keys', () => {
    const { canonical } = parseDefinition({
      STEPS: [
        {
          SAGA: true,
          CompensateWith: [{ steptype: 'noop', ID: 'c' }],
          Timeout: 'PT5S',
          RetryInterval: 5,
          ErrorBehavior: 1,
          Do: [{ Id: 'b', StepType: 'My Step', Inputs: { MyKey: { '@Nested': 'data.x' } } }],
          Outputs: { Result: 'data.y' },
          StepType: 'FOREACH',
          Inputs: { collection: '[1]' },
          Id: 'a',
          Unknown: 1,
        },
      ],
      DefaultErrorBehavior: 'terminate',
      Version: 9,
      Id: 'w',
    });
    expect(JSON.stringify(canonical)).toBe(
      JSON.stringify({
        id: 'w',
        defaultErrorBehavior: 'terminate',
        steps: [
          {
            id: 'a',
            stepType: 'Foreach',
            inputs: { collection: '[1]' },
            outputs: { Result: 'data.y' },
            do: [[{ id: 'b', stepType: 'My Step', inputs: { MyKey: { '@Nested': 'data.x' } } }]],
            errorBehavior: 1,
            retryInterval: 5,
            timeout: 'PT5S',
            compensateWith: [{ id: 'c', stepType: 'NoOp' }],
            saga: true,
          },
        ],
      }),
    );
  });
});

describe('parseDefinition — names with a special meaning in JavaScript', () => {
  it('treats __proto__ and constructor like any other name', () => {
    const document: unknown = JSON.parse(`{
      "Id": "__proto__",
      "__proto__": { "Description": "inherited" },
      "Steps": [
        { "Id": "__proto__", "StepType": "constructor", "NextStepId": "constructor",
          "Inputs": { "__proto__": { "__proto__": 1, "@toString": "data.x" } },
          "Outputs": { "__proto__": "1", "constructor": "2" },
          "SelectNextStep": { "__proto__": "True" } },
        { "Id": "constructor", "StepType": "toString" }
      ]
    }`);
    const definition = parseValid(document);
    expect(definition.description).toBeNull();
    expect([...definition.steps.keys()]).toEqual(['__proto__', 'constructor']);
    const step = definition.steps.get('__proto__')!;
    expect(step.outputs.map(({ key }) => key)).toEqual(['__proto__', 'constructor']);
    expect(step.inputs.map(({ name }) => name)).toEqual(['__proto__']);
    expect(step.selectNextStep.map(({ stepId }) => stepId)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['Description']).toBeUndefined();
  });
});

describe('parseDefinition — stored definitions', () => {
  it('accepts expressions that can no longer be posted', () => {
    const long = `data.a + ${'1 + '.repeat(5000)}1`;
    const document = documentWithStep({ StepType: 'NoOp', Outputs: { x: long } });
    expect(parseDefinition(document).errors).toMatchObject([{ code: 'expression_too_long' }]);
    expect(parseDefinition(document, { isStored: true }).definition).not.toBeNull();
  });
});
