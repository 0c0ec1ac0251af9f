import { expect, it } from 'vitest';
import { plainDuration } from '../../../src/runtime/explain/plain-duration.js';

it.each([
  [-5000, '0 s'],
  [0, '0 s'],
  [499, '0 s'],
  [500, '1 s'],
  [59_499, '59 s'],
  [59_500, '1 min'],
  [12 * 60_000 + 30_000, '12 min'],
  [3 * 3_600_000, '3 h'],
  [3 * 3_600_000 + 5 * 60_000, '3 h 5 min'],
  [2 * 86_400_000 + 4 * 3_600_000 + 60_000, '2 d 4 h'],
  [400 * 86_400_000, '400 d'],
])('writes %i ms as %s', (ms, text) => {
  expect(plainDuration(ms)).toBe(text);
});
