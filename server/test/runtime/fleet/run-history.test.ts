/** What a node counts of the last hour and day, and the sums over nodes. */
import { expect, it } from 'vitest';
import {
  addUp,
  HOUR_MS,
  HOURS,
  MINUTE_MS,
  MINUTES,
  RunHistory,
} from '../../../src/runtime/fleet/run-history.js';

const START = 1000 * HOUR_MS;

function historyAt(): { history: RunHistory; moveTo: (time: number) => void } {
  let now = START;
  const history = new RunHistory({ now: () => now, at: () => () => undefined });
  return {
    history,
    moveTo: (time) => {
      now = time;
    },
  };
}

it('counts starts and ends by minute and hour', () => {
  const { history, moveTo } = historyAt();
  history.started();
  history.ended('Succeeded', START - 100);
  history.ended('Failed', START - 300);
  moveTo(START + MINUTE_MS);
  history.ended('Compensated', START);
  history.ended('Terminated', START + 2 * MINUTE_MS);
  const first = { started: 1, succeeded: 1, failed: 1, stopped: 0, totalMs: 400, longestMs: 300 };
  const second = { started: 0, succeeded: 0, failed: 0, stopped: 2 };
  const ms = { totalMs: MINUTE_MS, longestMs: MINUTE_MS };
  expect(history.report()).toEqual({
    minutes: [
      { at: 60_000, ...first },
      { at: 60_001, ...second, ...ms },
    ],
    hours: [{ at: 1000, ...first, stopped: 2, totalMs: 400 + MINUTE_MS, longestMs: MINUTE_MS }],
  });
});

it('forgets minutes after an hour and hours after a day', () => {
  const { history, moveTo } = historyAt();
  history.started();
  moveTo(START + MINUTES * MINUTE_MS - 1);
  expect(history.report().minutes).toHaveLength(1);
  moveTo(START + MINUTES * MINUTE_MS);
  expect(history.report()).toMatchObject({ minutes: [], hours: [{ started: 1 }] });
  moveTo(START + HOURS * HOUR_MS);
  expect(history.report()).toEqual({ minutes: [], hours: [] });
});

it('keeps one bucket for each minute, however long the node runs', () => {
  const { history, moveTo } = historyAt();
  for (let minute = 0; minute < 10_000; minute += 1) {
    moveTo(START + minute * MINUTE_MS);
    history.started();
  }
  const { hours, minutes } = history.report();
  expect(minutes).toHaveLength(MINUTES);
  expect(hours.reduce((sum, { started }) => sum + started, 0)).toBe(23 * 60 + 40);
});

it('adds up the counts of several nodes, without those that are too old or in the future', () => {
  const bucket = { started: 1, succeeded: 2, failed: 3, stopped: 4, totalMs: 50, longestMs: 6 };
  const sums = addUp(
    [
      [
        { at: 7, ...bucket },
        { at: 10, ...bucket },
      ],
      [
        { at: 10, ...bucket, longestMs: 9 },
        { at: 11, ...bucket },
      ],
    ],
    10,
    3,
  );
  expect(sums.map(({ at, started }) => [at, started])).toEqual([
    [8, 0],
    [9, 0],
    [10, 2],
  ]);
  expect(sums[2]).toMatchObject({ failed: 6, totalMs: 100, longestMs: 9 });
});
