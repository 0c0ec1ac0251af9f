/**
 * Workflows that end, continue or stop because of time or a condition: cancel conditions, step timeouts, `Recur`, and
 * one that an error ends. What they wait for never comes by itself.
 */
import type { JsonObject } from '../../../src/engine/values/json.js';
import { call, number, step, type Workflow } from './workflow.js';

/** Nobody publishes it. */
const NEVER: JsonObject = { EventName: '"never"', EventKey: 'data.key' };
const WORK: JsonObject = { ActivityName: '"work"', Parameters: { '@s': 'data.s' } };
const STOPPED = 'data.stop > 0';

export const TIMED_WORKFLOWS: Readonly<Record<string, Workflow>> = {
  canceled: {
    document: {
      Id: 'canceled',
      Steps: [
        step('k0', 'Parallel', {
          Do: [
            [
              step('k1', 'Sequence', {
                CancelCondition: STOPPED,
                ProceedOnCancel: true,
                Do: [[step('k2', 'WaitFor', { Inputs: NEVER })]],
                NextStepId: 'k3',
              }),
              step('k3', 'NoOp', { Outputs: { went: '1' } }),
            ],
            [
              step('k4', 'WaitFor', { CancelCondition: STOPPED, Inputs: NEVER, NextStepId: 'k5' }),
              call('k5'),
            ],
            [
              step('k6', 'Delay', { Inputs: { Period: 'data.seconds' }, NextStepId: 'k7' }),
              // The last step that anything waits for: nothing else checks the conditions afterwards.
              step('k7', 'NoOp', { Outputs: { stop: '1' } }),
            ],
          ],
          NextStepId: 'k8',
        }),
        step('k8', 'NoOp', { Outputs: { done: '1' } }),
      ],
    },
    data: (random) => ({ stop: 0, seconds: random.pick([0, 0.3, 2]) }),
    expect: () => ({
      completed: { k0: 1, k2: 0, k3: 1, k4: 0, k5: 0, k6: 1, k7: 1, k8: 1 },
      canceled: { k1: 1, k2: 1, k4: 1 },
      data: { went: 1, done: 1, stop: 1 },
    }),
  },
  withdrawn: {
    document: {
      Id: 'withdrawn',
      Steps: [
        step('j0', 'Parallel', {
          Do: [
            // Whether a worker is quicker is a matter of chance.
            [
              step('j1', 'Activity', {
                CancelCondition: STOPPED,
                Inputs: WORK,
                Outputs: { answer: 'step.Result' },
              }),
            ],
            [
              step('j2', 'Sequence', {
                CancelCondition: STOPPED,
                Do: [[call('j3', { NextStepId: 'j4' }), step('j4', 'WaitFor', { Inputs: NEVER })]],
              }),
            ],
            [call('j5', { Outputs: { stop: '1' } })],
          ],
          NextStepId: 'j6',
        }),
        step('j6', 'NoOp', { Outputs: { done: '1' } }),
      ],
    },
    data: () => ({ stop: 0 }),
    expect: () => ({
      completed: { j0: 1, j2: 0, j4: 0, j5: 1, j6: 1 },
      canceled: { j2: 1 },
      data: { stop: 1, done: 1 },
    }),
  },
  limited: {
    document: {
      Id: 'limited',
      Steps: [
        step('y1', 'WaitFor', {
          Inputs: NEVER,
          Timeout: 1,
          MaxRetries: 1,
          RetryInterval: 0,
          OnRetriesExhausted: 'Compensate',
          NextStepId: 'y2',
        }),
        step('y2', 'Sequence', {
          Timeout: 2,
          ErrorBehavior: 'Compensate',
          Do: [[step('y3', 'Delay', { Inputs: { Period: '3600' } })]],
          NextStepId: 'y4',
        }),
        step('y4', 'Sequence', {
          // Long: its time starts before the pause inside, which may start much later.
          Timeout: 3600,
          Do: [[step('y5', 'Delay', { Inputs: { Period: '0.5' } })]],
          NextStepId: 'y6',
        }),
        call('y6', { Timeout: 3600, Outputs: { done: '1' } }),
      ],
    },
    data: () => ({}),
    expect: () => ({
      // The time of y2 may be over before y3 begins: then y3 is not canceled either.
      completed: { y1: 0, y2: 0, y3: 0, y4: 1, y5: 1, y6: 1 },
      failed: { y1: 2, y2: 1, y4: 0 },
      data: { done: 1 },
      outcome: 'Compensated',
    }),
  },
  rounds: {
    document: {
      Id: 'rounds',
      Steps: [
        step('v1', 'Recur', {
          Inputs: {
            Interval: '0.4',
            StopCondition: 'data.rounds >= data.n',
            Background: 'data.background',
          },
          Do: [
            [
              step('v2', 'NoOp', { Outputs: { rounds: 'data.rounds + 1' }, NextStepId: 'v3' }),
              call('v3'),
            ],
          ],
          NextStepId: 'v4',
        }),
        step('v4', 'NoOp', { Outputs: { after: 'data.rounds' } }),
      ],
    },
    data: (random) => ({ rounds: 0, n: random.between(1, 4), background: random.chance(0.5) }),
    expect: (start) => {
      const n = number(start, 'n');
      const after = start['background'] === true ? {} : { after: n };
      return { completed: { v2: n, v3: n, v4: 1 }, data: { rounds: n, ...after } };
    },
  },
  doomed: {
    document: {
      Id: 'doomed',
      Steps: [
        call('z1', { NextStepId: 'z2' }),
        step('z2', 'NoOp', {
          Outputs: { never: 'data.missing.field' },
          MaxRetries: 1,
          OnRetriesExhausted: 'Terminate',
          NextStepId: 'z3',
        }),
        step('z3', 'NoOp'),
      ],
    },
    data: () => ({}),
    expect: () => ({
      completed: { z1: 1, z2: 0, z3: 0 },
      failed: { z2: 2 },
      data: {},
      outcome: 'Failed',
    }),
  },
};
