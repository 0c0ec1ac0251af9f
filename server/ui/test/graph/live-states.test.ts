/** Goal: the state that the page shows for a step matches its executions. */
import { describe, expect, test } from 'vitest';
import { liveStatesOf, stateInWords, toneOf } from '../../src/graph/live-states.js';
import { execution } from '../support/execution.js';

describe('the state of a step', () => {
  test('counts its executions, in total and by status', () => {
    const states = liveStatesOf([
      execution({ executionId: 1, status: 'Complete' }),
      execution({ executionId: 2, status: 'Complete' }),
      execution({ executionId: 3, status: 'Running' }),
      execution({ executionId: 4, stepId: 'b', status: 'Cancelled' }),
    ]);
    expect(states.get('a')).toMatchObject({ complete: 2, running: 1, turns: 3 });
    expect(toneOf(states.get('a'))).toBe('running');
    expect(toneOf(states.get('b'))).toBe('canceled');
    expect(toneOf(states.get('c'))).toBe('none');
  });

  test('counts turns exactly, and says if it does not know all of them', () => {
    const turns = Array.from({ length: 10_000 }, (_, id) => execution({ executionId: id }));
    const words = (isPartial: boolean) =>
      stateInWords(liveStatesOf(turns, false, isPartial).get('a'));
    expect(words(false)).toBe('10,000 completed, 10,000 turns');
    expect(words(true)).toBe('10,000+ completed, 10,000+ turns');
  });

  test('is that of the latest attempt of each execution', () => {
    const states = liveStatesOf([
      execution({ status: 'Failed', attempt: 1 }),
      execution({ status: 'Failed', attempt: 2 }),
      execution({ status: 'Complete', attempt: 3 }),
    ]);
    expect(stateInWords(states.get('a'))).toBe('1 completed');
    expect(toneOf(states.get('a'))).toBe('complete');
  });

  test('names no time for a retry while the run is suspended', () => {
    const failed = execution({ status: 'Waiting', waitsFor: { kind: 'retry', until: 'T' } });
    const wait = (isSuspended: boolean) => liveStatesOf([failed], isSuspended).get('a')?.wait;
    expect(wait(true)).toBe('someone to resume the run');
    expect(wait(false)).toBe('retry at T');
  });

  test.each([
    [{ kind: 'event', eventName: 'approved', eventKey: '42' }, 'event approved/42', 'waiting'],
    [{ kind: 'activity', activityName: 'charge' }, 'activity charge', 'waiting'],
    [{ kind: 'workflow', workflowId: 'w' }, 'run w', 'waiting'],
    [{ kind: 'time', until: 'T' }, 'timer at T', 'waiting'],
    [{ kind: 'retry', until: 'T' }, 'retry at T', 'failed'],
    [{ kind: 'limit', limit: 'pay-api', key: 'acme' }, 'a slot of limit pay-api', 'waiting'],
    [{ kind: 'steps', open: 2 }, '2 inner steps', 'waiting'],
  ] as const)('names the reason of the wait: %o', (waitsFor, words, tone) => {
    const state = liveStatesOf([execution({ status: 'Waiting', waitsFor })]).get('a');
    expect(state?.wait).toBe(words);
    expect(toneOf(state)).toBe(tone);
    expect(stateInWords(state)).toContain(`waiting for ${words}`);
  });
});
