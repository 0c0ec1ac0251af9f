/** Goal: sentences that the server wrote some time ago stay true. */
import type { StepError } from '@stepwright/sdk';
import { describe, expect, test } from 'vitest';
import { freshText } from '../src/pages/run/fresh-text.js';

const WRITTEN = { time: '2026-05-04T10:00:00.000Z' };
const at = (seconds: number): string =>
  new Date(Date.parse(WRITTEN.time) + seconds * 1000).toISOString();
const errorSince = (since: string): StepError => ({
  stepId: 'a',
  type: 'HttpError',
  message: 'no answer',
  traceback: null,
  data: null,
  attempt: 12,
  time: at(-30),
  since,
});
const fresh = (
  text: string,
  reason: { since?: string; until?: string; failingSince?: string },
  secondsLater: number,
): string =>
  freshText(
    text,
    {
      kind: reason.failingSince === undefined ? 'timer' : 'retry',
      error: reason.failingSince === undefined ? null : errorSince(reason.failingSince),
      since: reason.since ?? null,
      until: reason.until ?? null,
    },
    WRITTEN,
    Date.parse(at(secondsLater)),
  );

describe('a sentence of an explanation', () => {
  test.each([
    [
      'completed 0 s ago, 3 s after its start',
      { since: at(0) },
      'completed 1 min ago, 3 s after its start',
    ],
    ['suspended by ada 50 s ago', { since: at(-50) }, 'suspended by ada 1 min ago'],
    [
      'has been waiting for event a/b for 40 s; times out in 2 d',
      { since: at(-40), until: at(172_800) },
      'has been waiting for event a/b for 1 min; times out in 1 d 23 h',
    ],
    ['attempt 8 in 17 s: no answer', { until: at(17) }, 'attempt 8 now: no answer'],
    ['attempt 8 in 5 min: no answer', { until: at(300) }, 'attempt 8 in 4 min: no answer'],
    [
      'attempt 13 in 2 min: no answer; failing for 8 min, 12 attempts',
      { since: at(-30), until: at(120), failingSince: at(-480) },
      'attempt 13 in 1 min: no answer; failing for 9 min, 12 attempts',
    ],
    ['held by worker for 40 s', { since: at(-3600) }, 'held by worker for 40 s'],
  ])('is kept current: %s', (text, reason, expected) => {
    expect(fresh(text, reason, 60)).toBe(expected);
  });

  test('is as the server wrote it at that moment', () => {
    const text = 'has been waiting for event a/b for 1 h 5 min; times out in 10 s';
    expect(fresh(text, { since: at(-3900), until: at(10) }, 0)).toBe(text);
  });
});
