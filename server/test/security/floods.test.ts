/** S-56: floods.nightly.ts floods every operation with its worst call. A new operation must say which call that is. */
import { expect, it } from 'vitest';
import { uncovered } from './support/flood-calls.js';

it('knows the worst call of every operation of the API', () => {
  expect(uncovered()).toEqual([]);
});
