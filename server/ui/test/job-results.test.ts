/** Goal: a bulk job says what became of its runs, not only that it has acted on them. */
import { describe, expect, test } from 'vitest';
import { resultText } from '../src/pages/bulk/job-results.js';

const STARTED = '2026-05-04T10:00:00.000Z';
const LATER = '2026-05-04T10:00:01.000Z';
const EARLIER = '2026-05-04T09:59:59.000Z';
type Run = Parameters<typeof resultText>[0][number];

const many = (count: number, run: Partial<Run>): Run[] =>
  Array.from({ length: count }, () => ({
    status: 'Runnable',
    outcome: null,
    failureTime: null,
    ...run,
  }));

describe('the results list of a bulk job', () => {
  test('contains results from after its start: a run may fail again', () => {
    const runs = [
      ...many(470, { status: 'Suspended', failureTime: LATER }),
      ...many(10, { outcome: 'Failed', status: 'Terminated', failureTime: LATER }),
      ...many(15, { outcome: 'Succeeded', status: 'Complete', failureTime: LATER }),
      ...many(3, { status: 'Suspended', failureTime: EARLIER }),
      ...many(2, {}),
    ];
    expect(resultText(runs, 500, STARTED)).toBe(
      'Of 500 runs: 480 failed again, 15 completed, 3 suspended, 2 still running, waiting or retrying.',
    );
  });

  test('says which runs it is about if it is not about all', () => {
    expect(resultText(many(500, {}), 8000, STARTED)).toBe(
      'Of the first 500 runs: 500 still running, waiting or retrying.',
    );
    expect(resultText(many(1, { outcome: 'Terminated' }), 3, STARTED)).toBe(
      'Of 3 runs: 1 terminated, 2 removed.',
    );
  });
});
