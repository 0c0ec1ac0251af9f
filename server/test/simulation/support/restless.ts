/**
 * Workflows that do much between two waits, or fail before any external call: loops over steps that fail at once,
 * retries without a pause, sub-workflows in loops, and an infinite one that must be stopped.
 */
import type { JsonObject } from '../../../src/engine/values/json.js';
import { call, EVENT_INPUTS, number, step, type Workflow } from './workflow.js';

/** The one that the server has to stop; then its client terminates it. */
export const RUNAWAY = 'runaway';

/** Fails at once, forever. */
const ALWAYS_FAILING: JsonObject = { Outputs: { never: 'data.missing.field' } };

/** What every child needs to start as the model of its workflow predicts. */
const CHILD_DATA: JsonObject = {
  '@s': 'data.s',
  '@key': 'data.key',
  i: 0,
  j: 0,
  n: 1,
  got: '',
  isChild: true,
};

function child(Id: string, rest: JsonObject): JsonObject {
  return step(Id, 'SubWorkflow', {
    Inputs: {
      DefinitionId: 'data.child',
      Data: CHILD_DATA,
      // Some children fail permanently; with the default the parent would start them forever.
      AcceptOutcome: ['Compensated', 'Failed', 'Terminated'],
    },
    ...rest,
  });
}

export const RESTLESS_WORKFLOWS: Readonly<Record<string, Workflow>> = {
  impatient: {
    document: {
      Id: 'impatient',
      Steps: [
        step('q0', 'Parallel', {
          Do: [
            // Retried without a pause until the other branch has the required data.
            [step('q1', 'NoOp', { RetryInterval: 0, Outputs: { length: 'data.ready.length' } })],
            [
              step('q2', 'Delay', { Inputs: { Period: '0.3' }, NextStepId: 'q3' }),
              call('q3', { Outputs: { ready: 'step.value' } }),
            ],
          ],
          NextStepId: 'q4',
        }),
        step('q4', 'NoOp', { Outputs: { done: '1' } }),
      ],
    },
    data: () => ({}),
    expect: () => ({
      completed: { q0: 1, q1: 1, q2: 1, q3: 1, q4: 1 },
      data: { length: 'done q3'.length, done: 1 },
    }),
  },
  failing: {
    document: {
      Id: 'failing',
      Steps: [
        step('g0', 'While', {
          Inputs: { Condition: 'data.i < data.n' },
          Do: [
            [
              step('g1', 'NoOp', {
                ...ALWAYS_FAILING,
                ErrorBehavior: 'Retry',
                RetryInterval: 0,
                MaxRetries: 2,
                OnRetriesExhausted: 'Compensate',
                NextStepId: 'g2',
              }),
              step('g2', 'NoOp', {
                ...ALWAYS_FAILING,
                CompensateWith: [step('g3', 'NoOp', { Outputs: { i: 'data.i + 1' } })],
              }),
            ],
          ],
          NextStepId: 'g4',
        }),
        step('g4', 'NoOp', { Outputs: { done: '1' } }),
      ],
    },
    data: (random) => ({ i: 0, n: random.between(1, 8) }),
    expect: (start) => {
      const n = number(start, 'n');
      return {
        completed: { g0: 1, g3: n, g4: 1 },
        data: { i: n, done: 1 },
        outcome: 'Compensated',
      };
    },
  },
  family: {
    document: {
      Id: 'family',
      Steps: [
        step('m0', 'While', {
          Inputs: { Condition: 'data.i < data.n' },
          Do: [[child('m1', { Outputs: { i: 'data.i + 1' } })]],
          NextStepId: 'm2',
        }),
        step('m2', 'Foreach', {
          Inputs: { Collection: '[1, 2, 3]', RunParallel: 'data.together' },
          Do: [[child('m3', { Outputs: { sum: 'data.sum + context.Item' } })]],
          NextStepId: 'm4',
        }),
        step('m4', 'NoOp', { Outputs: { done: '1' } }),
      ],
    },
    data: (random) => ({
      child: random.pick(['plain', 'failing', 'impatient', 'loop']),
      together: random.chance(0.5),
      i: 0,
      n: random.between(1, 3),
      sum: 0,
    }),
    expect: (start) => {
      const n = number(start, 'n');
      return {
        completed: { m0: 1, m1: n, m2: 1, m3: 3, m4: 1 },
        data: { i: n, sum: 6, done: 1 },
      };
    },
  },
  [RUNAWAY]: {
    document: {
      Id: RUNAWAY,
      Steps: [
        step('x0', 'Parallel', {
          Do: [
            [
              step('x1', 'While', {
                Inputs: { Condition: 'data.n > 0' },
                // The call fails before it is sent, which is not a wait; without a handler the branch continues.
                Do: [[call('refused', { ErrorBehavior: 'Compensate' })]],
              }),
            ],
            [
              step('x2', 'While', {
                Inputs: { Condition: 'data.n > 0' },
                Do: [
                  [
                    step('x3', 'WaitFor', {
                      Inputs: EVENT_INPUTS,
                      Outputs: { got: 'data.got + step.EventData' },
                    }),
                  ],
                ],
              }),
            ],
          ],
        }),
      ],
    },
    data: (random) => ({ n: random.between(1, 3), got: '' }),
    expect: () => ({ completed: {}, data: {} }),
  },
};
