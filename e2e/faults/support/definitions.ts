/** The kinds of runs that the workload mixes, each with its expected result. */
export interface Plan {
  readonly name: string;
  readonly n: number;
  readonly ledger: string;
}

interface Kind {
  /** The share of this kind, out of 100 runs. */
  readonly share: number;
  readonly definition: object;
  /** The event that the run waits for, with the id of the run as its key. */
  readonly awaitsEvent: boolean;
  /** The data at the end, without the initial data; `activity` adds the answer of the worker. */
  readonly expectedData: (plan: Plan) => Readonly<Record<string, unknown>>;
  /** The number of records of each step in the history. */
  readonly expectedSteps: Readonly<Record<string, number>>;
}

interface Step {
  readonly Id: string;
  readonly StepType: string;
  readonly [member: string]: unknown;
}

const FOREACH_ITEMS = 20;
const FOREACH_SUM = (FOREACH_ITEMS * (FOREACH_ITEMS - 1)) / 2;
const WHILE_TURNS = 5;

export const KINDS = {
  pure: {
    share: 60,
    awaitsEvent: false,
    definition: definition('pure', [
      assign('one', { a: 'sum([data.n, 1])' }),
      assign('two', { b: 'data.a * 2' }),
      assign('three', { c: 'data.b - data.n' }),
      assign('four', { d: 'data.c' }),
      assign('five', { e: 'sum([data.d, data.a])' }),
    ]),
    expectedData: ({ n }) => ({ a: n + 1, b: 2 * n + 2, c: n + 2, d: n + 2, e: 2 * n + 3 }),
    expectedSteps: { one: 1, two: 1, three: 1, four: 1, five: 1 },
  },
  http: {
    share: 15,
    awaitsEvent: false,
    definition: definition('http', [
      assign('begin', { begun: true }),
      {
        Id: 'call',
        StepType: 'HttpRequest',
        Inputs: { BaseUrl: 'data.ledger', Resource: '"/call/" + data.name', Method: '"POST"' },
        Outputs: { answer: 'step.ResponseCode' },
      },
      assign('end', { ended: true }),
    ]),
    expectedData: () => ({ begun: true, answer: 200, ended: true }),
    expectedSteps: { begin: 1, call: 1, end: 1 },
  },
  activity: {
    share: 10,
    awaitsEvent: false,
    definition: definition('activity', [
      {
        Id: 'work',
        StepType: 'Activity',
        Inputs: { ActivityName: '"work"', Parameters: { '@name': 'data.name', '@n': 'data.n' } },
        Outputs: { result: 'step.Result' },
      },
      assign('end', { ended: true }),
    ]),
    expectedData: () => ({ ended: true }),
    expectedSteps: { work: 1, end: 1 },
  },
  waitAfter: {
    share: 5,
    awaitsEvent: true,
    definition: definition('waitAfter', [waitForGo(), assign('end', { ended: true })]),
    expectedData: ({ n }) => ({ got: { value: n }, ended: true }),
    expectedSteps: { wait: 1, end: 1 },
  },
  waitBefore: {
    share: 5,
    awaitsEvent: true,
    definition: definition('waitBefore', [
      { Id: 'pause', StepType: 'Delay', Inputs: { Period: 0.4 } },
      waitForGo(),
      assign('end', { ended: true }),
    ]),
    expectedData: ({ n }) => ({ got: { value: n }, ended: true }),
    expectedSteps: { pause: 1, wait: 1, end: 1 },
  },
  control: {
    share: 5,
    awaitsEvent: false,
    definition: definition('control', [
      { Id: 'pause', StepType: 'Delay', Inputs: { Period: 1 } },
      assign('zero', { sum: '0', turns: '0' }),
      {
        Id: 'each',
        StepType: 'Foreach',
        Inputs: { Collection: `list(range(${FOREACH_ITEMS}))`, RunParallel: false },
        Do: [[assign('add', { sum: 'sum([data.sum, context.Item])' })]],
      },
      {
        Id: 'while',
        StepType: 'While',
        Inputs: { Condition: `data.turns < ${WHILE_TURNS}` },
        Do: [[assign('turn', { turns: 'data.turns + 1' })]],
      },
      {
        Id: 'if',
        StepType: 'If',
        Inputs: { Condition: `data.sum == ${FOREACH_SUM}` },
        Do: [[assign('then', { right: true })]],
      },
      assign('end', { ended: true }),
    ]),
    expectedData: () => ({ sum: FOREACH_SUM, turns: WHILE_TURNS, right: true, ended: true }),
    expectedSteps: {
      pause: 1,
      zero: 1,
      each: 1,
      add: FOREACH_ITEMS,
      while: 1,
      turn: WHILE_TURNS,
      if: 1,
      then: 1,
      end: 1,
    },
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type KindName = keyof typeof KINDS;

/** Selects a kind from 1 to 100, by the shares. */
export function kindAt(percent: number): KindName {
  let sum = 0;
  for (const [name, { share }] of Object.entries(KINDS)) {
    sum += share;
    if (percent < sum) return name as KindName; // The type contains the names of KINDS.
  }
  throw new Error('the shares must add up to 100');
}

export function definition(id: string, steps: readonly Step[]): object {
  return {
    Id: id,
    Steps: steps.map((step, at) => {
      const next = steps[at + 1];
      return next === undefined ? step : { ...step, NextStepId: next.Id };
    }),
  };
}

export function assign(id: string, outputs: Readonly<Record<string, unknown>>): Step {
  return { Id: id, StepType: 'NoOp', Outputs: outputs };
}

function waitForGo(): Step {
  return {
    Id: 'wait',
    StepType: 'WaitFor',
    Inputs: { EventName: '"go"', EventKey: 'data.name' },
    Outputs: { got: 'step.EventData' },
  };
}
