/** A new instance is stored once: with the result of its first pass, or in its initial state if the pass takes long. */
import { expect, it } from 'vitest';
import { FirstInsertion, type FirstPass } from '../../../src/runtime/instances/first-insertion.js';
import { StoreUnavailableError } from '../../../src/store/store.js';
import { NO_SIDE } from '../../store/records.js';

function scene() {
  const stored: (FirstPass | null)[] = [];
  const insertion = new FirstInsertion((firstPass) => {
    stored.push(firstPass);
    return Promise.resolve({ outcome: 'inserted' });
  });
  return { insertion, stored };
}

const FIRST_PASS = {} as FirstPass; // Only passed on.

it('stores the result of the first pass', async () => {
  const { insertion, stored } = scene();
  expect(await insertion.withFirstPass(FIRST_PASS, NO_SIDE)).toBe('inserted');
  insertion.early();
  expect(stored).toEqual([FIRST_PASS]);
  expect(await insertion.result).toEqual({ outcome: 'inserted' });
});

it('stores a run in its initial state if the first pass takes long, and notifies the pass', async () => {
  const { insertion, stored } = scene();
  insertion.early();
  expect(await insertion.withFirstPass(FIRST_PASS, NO_SIDE)).toBe('inserted-before');
  expect(stored).toEqual([null]);
});

it('reports an unavailable store to both the caller and the first pass', async () => {
  const insertion = new FirstInsertion(() => Promise.reject(new StoreUnavailableError('down')));
  insertion.early();
  await expect(insertion.withFirstPass(FIRST_PASS, NO_SIDE)).rejects.toThrow('down');
  await expect(insertion.result).rejects.toThrow('down');
});
