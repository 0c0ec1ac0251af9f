/** Goal: all pages judge by one rule whether workers attend to a queue. */
import { expect, test } from 'vitest';
import { attendanceOf } from '../src/components/queue-attendance.js';

const NOW = Date.parse('2026-05-04T10:20:30Z');
const ago = (seconds: number): string => new Date(NOW - seconds * 1000).toISOString();
const queue = { waiting: 1, held: 0, pollers: 0, lastPollTime: null };

test.each([
  ['a poll is waiting', { ...queue, pollers: 1 }, 'polled'],
  ['nothing waits', { ...queue, waiting: 0 }, 'idle'],
  ['nobody has ever polled', queue, 'nobody'],
  ['the last poll was long ago', { ...queue, lastPollTime: ago(60) }, 'nobody'],
  ['a worker is between two polls', { ...queue, lastPollTime: ago(59) }, 'busy'],
  ['a worker holds an item', { ...queue, held: 1, lastPollTime: ago(3600) }, 'busy'],
] as const)('tells the attendance when %s', (_, state, expected) => {
  expect(attendanceOf(state, NOW)).toBe(expected);
});
