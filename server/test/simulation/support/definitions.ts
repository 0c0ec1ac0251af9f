/** The workflows of simulations, each with the expected result of its runs. */
import type { Json, JsonObject } from '../../../src/engine/values/json.js';
import { BOUNDED, BOUNDED_WORKFLOW } from './bounded.js';
import { REPAIRED, REPAIRED_WORKFLOW } from './repaired.js';
import { RESTLESS_WORKFLOWS, RUNAWAY } from './restless.js';
import { TIMED_WORKFLOWS } from './timed.js';
import { call, EVENT_INPUTS, number, step, type Workflow } from './workflow.js';

const WORK_INPUTS: JsonObject = { ActivityName: '"work"', Parameters: { '@s': 'data.s' } };

/** Retried like any other; compensated only if its run is terminated with compensation. */
function compensatedBy(id: string): JsonObject {
  return { ErrorBehavior: 'Retry', CompensateWith: [call(id)] };
}

/** The step that compensates a step. */
export const COMPENSATED_BY: ReadonlyMap<string, string> = new Map([
  ...(['1', '2', '3'] as const).map((n) => [`e${n}`, `e${n}-undo`] as const),
  ...(['1', '2'] as const).map((n) => [`s${n}`, `u${n}`] as const),
]);

const CALM_WORKFLOWS: Readonly<Record<string, Workflow>> = {
  plain: {
    document: {
      Id: 'plain',
      Steps: [
        step('p1', 'NoOp', { Outputs: { a: 'data.n + 1' }, NextStepId: 'p2' }),
        step('p2', 'NoOp', { Outputs: { b: 'data.a * 2' }, NextStepId: 'p3' }),
        step('p3', 'NoOp', { Outputs: { c: 'data.a + data.b' } }),
      ],
    },
    data: (random) => ({ n: random.below(100) }),
    expect: (start) => {
      const a = number(start, 'n') + 1;
      return { completed: { p1: 1, p2: 1, p3: 1 }, data: { a, b: 2 * a, c: 3 * a } };
    },
  },
  effects: {
    document: {
      Id: 'effects',
      Steps: [
        call('e1', {
          ...compensatedBy('e1-undo'),
          Outputs: { r1: 'step.value' },
          NextStepId: 'e2',
        }),
        call('e2', {
          ...compensatedBy('e2-undo'),
          Outputs: { r2: 'data.r1 + step.value' },
          NextStepId: 'e3',
        }),
        call('e3', { ...compensatedBy('e3-undo'), Outputs: { r3: 'data.r2 + step.value' } }),
      ],
    },
    data: () => ({}),
    expect: () => ({
      completed: { e1: 1, e2: 1, e3: 1 },
      data: { r3: 'done e1done e2done e3' },
    }),
  },
  loop: {
    document: {
      Id: 'loop',
      Steps: [
        step('l1', 'While', {
          Inputs: { Condition: 'data.i < data.n' },
          Do: [
            [
              step('l2', 'NoOp', { NextStepId: 'l3', Outputs: { j: 'data.j + 1' } }),
              call('l3', { Outputs: { i: 'data.i + 1' } }),
            ],
          ],
          NextStepId: 'l4',
        }),
        step('l4', 'NoOp', { Outputs: { done: '1' } }),
      ],
    },
    data: (random) => ({ i: 0, j: 0, n: random.between(1, 5) }),
    expect: (start) => {
      const n = number(start, 'n');
      return { completed: { l1: 1, l2: n, l3: n, l4: 1 }, data: { i: n, j: n, done: 1 } };
    },
  },
  history: {
    document: {
      Id: 'history',
      Steps: [
        step('h1', 'While', {
          Inputs: { Condition: 'data.i < data.n' },
          Do: [
            [
              step('h2', 'NoOp', { NextStepId: 'h3' }),
              step('h3', 'NoOp', { Outputs: { i: 'data.i + 1' } }),
            ],
          ],
          NextStepId: 'h4',
        }),
        call('h4', { NextStepId: 'h5', Outputs: { i: '0', round: 'data.round + 1' } }),
        step('h5', 'Decide', { SelectNextStep: { h1: 'data.round < 3' } }),
      ],
    },
    data: () => ({ i: 0, n: 24, round: 0 }),
    expect: () => ({
      completed: { h1: 3, h2: 72, h3: 72, h4: 3, h5: 3 },
      data: { round: 3 },
    }),
  },
  parallel: {
    document: {
      Id: 'parallel',
      Steps: [
        step('b0', 'Parallel', {
          Do: [
            [call('b1', { Outputs: { x: 'step.value' } })],
            [step('b2', 'Delay', { Inputs: { Period: '1' }, Outputs: { y: '2' } })],
            [
              step('b3', 'NoOp', { NextStepId: 'b4' }),
              call('b4', { Outputs: { z: 'step.value' } }),
            ],
          ],
          NextStepId: 'b5',
        }),
        step('b5', 'NoOp', { Outputs: { all: 'data.x + data.y + data.z' } }),
      ],
    },
    data: () => ({}),
    expect: () => ({
      completed: { b0: 1, b1: 1, b2: 1, b3: 1, b4: 1, b5: 1 },
      data: { all: 'done b12done b4' },
    }),
  },
  foreach: {
    document: {
      Id: 'foreach',
      Steps: [
        step('f1', 'Foreach', {
          Inputs: { Collection: 'data.items', RunParallel: 'data.together' },
          Do: [
            [
              call('f2', { NextStepId: 'f3' }),
              step('f3', 'NoOp', { Outputs: { sum: 'data.sum + context.Item' } }),
            ],
          ],
          NextStepId: 'f4',
        }),
        step('f4', 'Delay', { Inputs: { Period: '0.5' }, Outputs: { done: '1' } }),
      ],
    },
    data: (random) => ({ items: [1, 2, 3, 4], together: random.chance(0.5), sum: 0 }),
    expect: () => ({ completed: { f1: 1, f2: 4, f3: 4, f4: 1 }, data: { sum: 10, done: 1 } }),
  },
  event: {
    document: {
      Id: 'event',
      Steps: [
        step('w1', 'While', {
          Inputs: { Condition: 'data.i < data.n' },
          Do: [
            [
              step('w2', 'WaitFor', {
                Inputs: EVENT_INPUTS,
                Outputs: { got: 'data.got + step.EventData', i: 'data.i + 1' },
              }),
            ],
          ],
          NextStepId: 'w3',
        }),
        call('w3'),
      ],
    },
    data: (random) => ({ i: 0, n: random.between(1, 3), got: '' }),
    expect: (start) => {
      const n = number(start, 'n');
      return { completed: { w1: 1, w2: n, w3: 1 }, data: { i: n } };
    },
  },
  race: {
    document: {
      Id: 'race',
      Steps: [
        step('t1', 'WaitFor', {
          Inputs: { ...EVENT_INPUTS, Timeout: '2' },
          Outputs: { got: 'step.EventData', late: 'step.TimedOut' },
          NextStepId: 't2',
        }),
        call('t2'),
      ],
    },
    data: () => ({ n: 1 }),
    expect: () => ({ completed: { t1: 1, t2: 1 }, data: {} }),
  },
  activity: {
    document: {
      Id: 'activity',
      Steps: [
        step('a1', 'Activity', {
          Inputs: WORK_INPUTS,
          Outputs: { result: 'step.Result' },
          NextStepId: 'a2',
        }),
        call('a2', { NextStepId: 'a3' }),
        step('a3', 'Parallel', {
          Do: [
            [step('a4', 'Activity', { Inputs: WORK_INPUTS, Outputs: { left: 'step.Result' } })],
            [step('a5', 'Activity', { Inputs: WORK_INPUTS, Outputs: { right: 'step.Result' } })],
          ],
        }),
      ],
    },
    data: () => ({}),
    expect: () => ({ completed: { a1: 1, a2: 1, a3: 1, a4: 1, a5: 1 }, data: {} }),
  },
  delay: {
    document: {
      Id: 'delay',
      Steps: [
        step('d1', 'Delay', { Inputs: { Period: '1.5' }, NextStepId: 'd2' }),
        call('d2', { NextStepId: 'd3' }),
        step('d3', 'Schedule', {
          Inputs: { Interval: '1' },
          Do: [[call('d4')]],
          NextStepId: 'd5',
        }),
        step('d5', 'NoOp', { Outputs: { done: '1' } }),
      ],
    },
    data: () => ({}),
    expect: () => ({ completed: { d1: 1, d2: 1, d3: 1, d4: 1, d5: 1 }, data: { done: 1 } }),
  },
  saga: {
    document: {
      Id: 'saga',
      Steps: [
        step('s0', 'Sequence', {
          Saga: true,
          ErrorBehavior: 'Compensate',
          Do: [
            [
              call('s1', {
                CompensateWith: [call('u1', { Outputs: { undone: 'data.undone + "1"' } })],
                NextStepId: 's2',
              }),
              call('s2', {
                CompensateWith: [call('u2', { Outputs: { undone: 'data.undone + "2"' } })],
                NextStepId: 'broken',
              }),
              call('broken', { ErrorBehavior: 'Compensate' }),
            ],
          ],
          NextStepId: 's3',
        }),
        step('s3', 'NoOp', { Outputs: { done: '1' } }),
      ],
    },
    data: () => ({ undone: '' }),
    expect: () => ({
      completed: { s1: 1, s2: 1, u1: 1, u2: 1, s3: 1 },
      data: { undone: '21', done: 1 },
      outcome: 'Compensated',
    }),
  },
  parent: {
    document: {
      Id: 'parent',
      Steps: [
        step('c1', 'SubWorkflow', {
          Inputs: {
            DefinitionId: 'data.child',
            Data: { '@s': 'data.s', '@key': 'data.key', i: 0, n: 1, got: '', isChild: true },
          },
          Outputs: { status: 'step.Status' },
          NextStepId: 'c2',
        }),
        call('c2', { Outputs: { done: '1' } }),
      ],
    },
    data: (random) => ({ child: random.pick(['effects', 'event', 'activity']), n: 1 }),
    expect: () => ({ completed: { c1: 1, c2: 1 }, data: { done: 1, status: 'Complete' } }),
  },
};

export const WORKFLOWS: Readonly<Record<string, Workflow>> = {
  ...CALM_WORKFLOWS,
  ...RESTLESS_WORKFLOWS,
  ...TIMED_WORKFLOWS,
  [REPAIRED]: REPAIRED_WORKFLOW,
  [BOUNDED]: BOUNDED_WORKFLOW,
};

/** Old seeds that found a bug draw from the workflows of their time; otherwise they would behave differently. */
const OLDER_SEEDS_MAX = 10_000;

/** Whether a seed draws from all workflows, including those that are rarely at rest. */
export function isRestless(seed: number): boolean {
  return seed > OLDER_SEEDS_MAX || seed % 10 === 0;
}

/** Of twenty consecutive seeds, those that draw from the workflows of `timed.ts` and purge ended instances soon. */
const TIMED_SEEDS: ReadonlySet<number> = new Set([1, 5, 8, 12]);

export function isTimed(seed: number): boolean {
  return TIMED_SEEDS.has(seed % 20);
}

/** Whether clients modify runs; none of the old seeds that found a bug. */
export function isModified(seed: number): boolean {
  return seed % 11 === 9 || seed % 13 === 10;
}

/** Whether inboxes are filled now and then; not drawn, because that would change the meaning of older seeds. */
export function fillsInboxes(seed: number): boolean {
  return seed % 13 === 7;
}

/** Whether a Foreach with MaxParallel runs often; none of the old seeds that found a bug. */
function isBounded(seed: number): boolean {
  return [2, 8].includes(seed % 17);
}

/** The workflows that a seed draws from. */
export function workflowNames(seed: number): readonly string[] {
  const restless = isRestless(seed) ? { ...CALM_WORKFLOWS, ...RESTLESS_WORKFLOWS } : CALM_WORKFLOWS;
  const timed = isTimed(seed) ? Object.keys(TIMED_WORKFLOWS) : [];
  const repaired = isModified(seed) ? [REPAIRED, REPAIRED, REPAIRED, REPAIRED] : [];
  const bounded = isBounded(seed) ? [BOUNDED, BOUNDED, BOUNDED, BOUNDED] : [];
  return [...Object.keys(restless), ...timed, ...timed, ...timed, ...repaired, ...bounded];
}

/** Whether there is something to compensate. */
export function canBeCompensated(name: string): boolean {
  return name === 'effects' || name === 'saga';
}

/** Whether instances wait for events with the key of their scenario. */
export function takesEvents(name: string, data: JsonObject): boolean {
  return ['event', 'race', RUNAWAY].includes(name) || data['child'] === ('event' satisfies Json);
}
