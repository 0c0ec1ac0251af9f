/**
 * Goal: the ends of recent runs are known, and take a bounded amount of memory.
 * Method: views of runs with data of different sizes, on a clock that the test sets.
 */
import { expect, it } from 'vitest';
import { RecentEnds } from '../../../src/runtime/instances/recent-ends.js';
import type { InstanceView } from '../../../src/runtime/model/instance-types.js';
import { ManualClock } from '../support/manual-clock.js';

function viewOf(
  id: string,
  data: InstanceView['data'] = {},
  lastError: InstanceView['lastError'] = null,
): InstanceView {
  return {
    id,
    definitionId: 'd',
    version: 1,
    reference: null,
    tags: {},
    priority: 3,
    fairness: null,
    queued: false,
    index: {},
    status: 'Complete',
    outcome: 'Succeeded',
    parent: null,
    startTime: 1,
    endTime: 2,
    lastChangeTime: 2,
    failureTime: null,
    failingSince: null,
    restartOf: null,
    restartedAs: null,
    trigger: null,
    failure: null,
    debounce: null,
    lastError,
    data,
  };
}

it('keeps the end of a run for half a minute', () => {
  const clock = new ManualClock();
  const ends = new RecentEnds(clock);
  const view = viewOf('a');
  ends.add(view);
  clock.advance(30_000);
  expect(ends.get('a')).toBe(view);
  clock.advance(1);
  expect(ends.get('a')).toBeNull();
  expect(ends.get('b')).toBeNull();
});

it('keeps only the last 32 runs', () => {
  const ends = new RecentEnds(new ManualClock());
  for (let n = 0; n < 33; n += 1) ends.add(viewOf(`${n}`));
  expect(ends.get('0')).toBeNull();
  expect(ends.get('1')).not.toBeNull();
});

it.each([
  ['50 kB of text', { text: 'x'.repeat(50_000) }, true],
  ['200 kB of text', { text: 'x'.repeat(200_000) }, false],
  ['2,000 empty lists', { lists: Array.from({ length: 2000 }, () => []) }, false],
])('decides by its size whether it keeps a run with %s', (_, data, isKept) => {
  const ends = new RecentEnds(new ManualClock());
  ends.add(viewOf('a'));
  ends.add(viewOf('a', data));
  expect(ends.get('a')?.data).toEqual(isKept ? data : undefined);
});

it('does not keep a run with a large error', () => {
  const ends = new RecentEnds(new ManualClock());
  const error = {
    stepId: 's',
    message: 'no',
    type: 'ActivityFailed',
    traceback: null,
    attempt: 1,
    time: 2,
  };
  ends.add(viewOf('a', {}, { ...error, data: 'x'.repeat(50_000) }));
  ends.add(viewOf('b', {}, { ...error, data: 'x'.repeat(200_000) }));
  expect(ends.get('a')).not.toBeNull();
  expect(ends.get('b')).toBeNull();
});

it.each([
  ['somebody asks for it', (ends: RecentEnds) => ends.get('a')],
  ['another run ends', (ends: RecentEnds) => ends.add(viewOf('b'))],
])('removes an expired end when %s', (_, act) => {
  const clock = new ManualClock();
  const ends = new RecentEnds(clock);
  ends.add(viewOf('a'));
  clock.advance(30_001);
  act(ends);
  // Back then, it would be known.
  clock.advance(-30_001);
  expect(ends.get('a')).toBeNull();
});
