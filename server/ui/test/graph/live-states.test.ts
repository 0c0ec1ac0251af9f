/** Goal: the state that the page shows for a step matches its executions. */
import type { StepExecution } from '@stepwright/sdk';
import { describe, expect, test } from 'vitest';
import { liveStatesOf, stateInWords, toneOf } from '../../src/graph/live-states.js';

function execution(parts: Partial<StepExecution>): StepExecution {
  return {
    executionId: 1,
    stepId: 'a',
    stepType: 'NoOp',
    name: null,
    status: 'Complete',
    attempt: 1,
    startTime: '2026-05-04T10:20:30.125Z',
    endTime: null,
    item: null,
    index: null,
    inputs: null,
    outputs: null,
    error: null,
    waitsFor: null,
    childWorkflowId: null,
    ...parts,
  };
}

describe('the state of a step', () => {
  test('counts its executions, in total and by status', () => {
    const states = liveStatesOf([
      execution({ status: 'Complete' }),
      execution({ status: 'Complete' }),
      execution({ status: 'Running' }),
      execution({ stepId: 'b', status: 'Cancelled' }),
    ]);
    expect(states.get('a')).toMatchObject({ complete: 2, running: 1, turns: 3 });
    expect(toneOf(states.get('a'))).toBe('running');
    expect(toneOf(states.get('b'))).toBe('cancelled');
    expect(toneOf(states.get('c'))).toBe('none');
  });

  test.each([
    [{ kind: 'event', eventName: 'approved', eventKey: '42' }, 'event approved/42', 'waiting'],
    [{ kind: 'activity', activityName: 'charge' }, 'activity charge', 'waiting'],
    [{ kind: 'workflow', workflowId: 'w' }, 'run w', 'waiting'],
    [{ kind: 'time', until: 'T' }, 'timer at T', 'waiting'],
    [{ kind: 'retry', until: 'T' }, 'retry at T', 'failed'],
    [{ kind: 'steps', open: 2 }, '2 inner steps', 'waiting'],
  ] as const)('says what it is waiting for: %o', (waitsFor, words, tone) => {
    const state = liveStatesOf([execution({ status: 'Waiting', waitsFor })]).get('a');
    expect(state?.wait).toBe(words);
    expect(toneOf(state)).toBe(tone);
    expect(stateInWords(state)).toContain(`waiting for ${words}`);
  });
});
