/** Random documents: valid ones to transform, and invalid ones that hardly resemble a definition. */
import fc from 'fast-check';
import { findStepType } from '../../../src/engine/definitions/step-types.js';
import { DEFINITION_MEMBERS, STEP_MEMBERS } from '../../../src/engine/definitions/step-members.js';

interface RandomStep {
  readonly type: string;
  readonly inputs: Record<string, unknown>;
  readonly members: Record<string, unknown>;
  readonly limits: readonly unknown[] | null;
  readonly next: number;
  readonly select: readonly number[];
  readonly sequences: readonly (readonly RandomStep[])[];
  readonly compensation: readonly RandomStep[];
}

const value = fc.oneof(
  fc.constantFrom('data.x + 1', "'text'", 'data["a"]', 'context.Item', 'len(data.list)'),
  fc.integer(),
  fc.boolean(),
  fc.constant({ '@a': 'data.x', b: [1, { '@c': 'data.y', d: 'text' }], e: null }),
  fc.constant(['a', 1, null]),
);
const expression = fc.constantFrom('data.x', '1 + 1', 'not data.done');

/** Step types with the inputs that each of them has. */
const typeAndInputs = fc.oneof(
  fc.record({ Message: value }).map((inputs) => ({ type: 'EmitLog', inputs })),
  fc.record({ Condition: expression }).map((inputs) => ({ type: 'While', inputs })),
  fc
    .record({
      Collection: expression,
      RunParallel: fc.constantFrom(true, 'data.x'),
      MaxParallel: fc.oneof(fc.integer({ min: 1 }), expression),
    })
    .map((inputs) => ({ type: 'Foreach', inputs })),
  fc
    .record({ BaseUrl: expression, Headers: fc.constant({ '@H': 'data.x', i: 'j' }) })
    .map((inputs) => ({ type: 'HttpRequest', inputs })),
  fc.constantFrom('NoOp', 'Parallel', 'Sequence', 'Decide').map((type) => ({ type, inputs: {} })),
  fc
    .dictionary(fc.constantFrom('a', 'B', 'Message', 'message', '__proto__'), value)
    .map((inputs) => ({ type: 'My Custom Step', inputs })),
);

const optionalMembers = fc.record(
  {
    Name: fc.oneof(fc.string(), fc.integer()),
    Outputs: fc.dictionary(fc.string(), expression),
    CancelCondition: fc.oneof(expression, fc.boolean()),
    ProceedOnCancel: fc.boolean(),
    ErrorBehavior: fc.constantFrom('Retry', 'Suspend', 'Terminate', 'Compensate', 0, 3),
    RetryInterval: fc.constantFrom(5, '00:00:10', 'PT1M', '1.00:00:00'),
    MaxRetries: fc.nat(1_000_000_000),
    RetryBackoff: fc.double({ min: 1, max: 10, noNaN: true }),
    RetryJitter: fc.double({ min: 0, max: 1, noNaN: true }),
    OnRetriesExhausted: fc.constantFrom('Suspend', 'Terminate', 'Compensate', 2),
    NonRetryable: fc.array(fc.constantFrom('ValueError', 'Declined'), { maxLength: 3 }),
    Timeout: fc.integer({ min: 1, max: 1000 }),
    Saga: fc.boolean(),
  },
  { requiredKeys: [] },
);

const limits = fc.uniqueArray(
  fc.oneof(
    fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom('a', 'b', '-') }),
    fc.record(
      {
        Name: fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom('c', 'd') }),
        Key: fc.oneof(expression, fc.integer()),
        Units: fc.integer({ min: 1, max: 1_000_000 }),
      },
      { requiredKeys: ['Name'] },
    ),
  ),
  { maxLength: 4, selector: (limit) => (typeof limit === 'string' ? limit : limit.Name) },
);

const { step } = fc.letrec<{ step: RandomStep }>((tie) => ({
  step: fc
    .tuple(
      typeAndInputs,
      optionalMembers,
      fc.nat(50),
      fc.array(fc.nat(50), { maxLength: 2 }),
      fc.record({
        limits: fc.option(limits, { nil: null }),
        sequences: fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.constant([]),
          fc.array(fc.array(tie('step'), { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
        ),
        compensation: fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.constant([]),
          fc.array(tie('step'), { minLength: 1, maxLength: 2 }),
        ),
      }),
    )
    .map(([{ type, inputs }, members, next, select, nested]) => ({
      type,
      inputs,
      members,
      next,
      select,
      ...nested,
    })),
}));

function countSteps(steps: readonly RandomStep[]): number {
  return steps.reduce(
    (count, { sequences, compensation }) =>
      count + 1 + countSteps(sequences.flat()) + countSteps(compensation),
    0,
  );
}

/** Ids are numbered, so that they are unique and every reference has a target. */
function toDocument(steps: readonly RandomStep[]): Record<string, unknown> {
  const count = countSteps(steps);
  let given = 0;
  const idOf = (index: number): string => `step ${index % count}`;
  const write = (random: RandomStep): Record<string, unknown> => ({
    Id: idOf(given++),
    StepType: random.type,
    Inputs: random.inputs,
    NextStepId: random.next % 3 === 0 ? null : idOf(random.next),
    SelectNextStep: Object.fromEntries(random.select.map((index) => [idOf(index), 'data.x'])),
    Do: random.sequences.map((sequence) => sequence.map(write)),
    CompensateWith: random.compensation.map(write),
    ...(LIMITED.has(random.type) && { Limits: random.limits }),
    ...random.members,
  });
  return {
    Id: 'random',
    Description: 'made by chance',
    Input: { properties: { x: { type: 'string', default: 'y' } }, required: ['x'] },
    Fairness: { Key: 'data.tenant', Weight: 2.5 },
    Index: { Customer: 'data.customer.id' },
    Tags: { Team: 'sales' },
    Steps: steps.map(write),
  };
}

/** Documents without an error. */
export const validDocument: fc.Arbitrary<Record<string, unknown>> = fc
  .array(step, { minLength: 1, maxLength: 4 })
  .map(toDocument);

export type Recase = (text: string) => string;

/** The types above whose steps can have limits. */
const LIMITED: ReadonlySet<string> = new Set(['HttpRequest', 'My Custom Step']);

/** Changes the casing of everything that is case-insensitive: members, step types, and inputs of built-in steps. */
function recaseStep(source: unknown, recase: Recase): unknown {
  const step = source as Record<string, unknown>;
  const type = step['StepType'] as string;
  const isBuiltIn = findStepType(type) !== null;
  const recased: Record<string, unknown> = {
    ...step,
    StepType: isBuiltIn ? recase(type) : type,
    Inputs: isBuiltIn ? recaseKeys(step['Inputs'] as object, recase) : step['Inputs'],
    Do: (step['Do'] as unknown[][]).map((list) => list.map((inner) => recaseStep(inner, recase))),
    CompensateWith: (step['CompensateWith'] as unknown[]).map((inner) => recaseStep(inner, recase)),
    Limits: (step['Limits'] as readonly unknown[] | null | undefined)?.map((limit) =>
      typeof limit === 'string' ? limit : recaseKeys(limit as object, recase),
    ),
  };
  if (recased['Limits'] === undefined) delete recased['Limits'];
  return recaseKeys(recased, recase);
}

export function recaseDocument(document: Record<string, unknown>, recase: Recase): unknown {
  const steps = (document['Steps'] as unknown[]).map((step) => recaseStep(step, recase));
  return recaseKeys({ ...document, Steps: steps }, recase);
}

function recaseKeys(source: object, recase: Recase): Record<string, unknown> {
  return Object.fromEntries(Object.entries(source).map(([key, value]) => [recase(key), value]));
}

export const anyCasing: fc.Arbitrary<Recase> = fc
  .infiniteStream(fc.boolean())
  .map(
    (upper) => (text) =>
      text.replace(/./gu, (letter) =>
        upper.next().value ? letter.toUpperCase() : letter.toLowerCase(),
      ),
  );

const memberName = fc.constantFrom(
  ...DEFINITION_MEMBERS,
  ...STEP_MEMBERS,
  'Steps',
  'Do',
  'ID',
  'Message',
  '@x',
  '@',
  'a/b~c',
  '__proto__',
  'constructor',
  'toString',
);

/** Any JSON value, mostly with known member names, so that it gets far into the parser. */
export const randomDocument: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom('a', 'If', 'NoOp', 'Delay', 'data.x', '', 'Retry', "'PT5S'", 'x'.repeat(300)),
    fc.constantFrom(null, true, false, 0, -1, 5, 1e300, Number.NaN),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(memberName, fc.string()), tie('value'), { maxKeys: 8 }),
    fc.record(
      {
        Id: tie('value'),
        StepType: fc.constantFrom('If', 'foreach', 'EmitLog', 'mine', 'Parallel', 'WaitFor'),
        Inputs: tie('value'),
        Do: fc.array(tie('value'), { maxLength: 3 }),
        CompensateWith: fc.array(tie('value'), { maxLength: 3 }),
        SelectNextStep: tie('value'),
        NextStepId: tie('value'),
      },
      { requiredKeys: [] },
    ),
  ),
  document: fc.oneof(
    tie('value'),
    fc.record({ Id: tie('value'), Steps: fc.array(tie('value'), { maxLength: 4 }) }),
    fc.record({ Input: tie('value'), Index: tie('value'), Tags: tie('value') }),
  ),
})).document;
