/** Goal: an explanation does not say that no worker asks for an item while one has asked for it just now. */
import { expect, it } from 'vitest';
import { explainActivity } from '../../../src/runtime/explain/explain-activity.js';

const NOW = 1_000_000;
type Known = NonNullable<Parameters<typeof explainActivity>[0]>;

const waiting = (lastPollTime: number | null, pollers = 0): string => {
  const record = {
    done: false,
    tokenHash: null,
    availableAt: NOW - 1000,
    workerId: null,
  } as Partial<Known['record']> as Known['record'];
  const polling = { pollers, lastPollTime };
  return explainActivity({ kind: 'activity', record, polling }, NOW).text;
};

it.each([
  [null, 0, 'no worker has polled for it since the nodes started'],
  [NOW - 9000, 0, 'waiting for a worker to poll for it; the last poll was 9 s ago'],
  [NOW - 60_000, 0, 'no worker has polled for it for 1 min'],
  [NOW - 720_000, 0, 'no worker has polled for it for 12 min'],
  [NOW - 720_000, 1, 'waiting for the worker that polls for it'],
])('tells from the last poll at %s and %i polls: %s', (lastPollTime, pollers, text) => {
  expect(waiting(lastPollTime, pollers)).toBe(text);
});
