/** A new instance is stored once: with what its first pass made of it, or as it began when that takes long. */
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

const FIRST_PASS = {} as FirstPass; // Only handed on.

it('stores what the first pass has made of the instance', async () => {
  const { insertion, stored } = scene();
  expect(await insertion.withFirstPass(FIRST_PASS, NO_SIDE)).toBe('inserted');
  insertion.early();
  expect(stored).toEqual([FIRST_PASS]);
  expect(await insertion.result).toEqual({ outcome: 'inserted' });
});

it('tells a first pass that takes long that the instance was stored as it began', async () => {
  const { insertion, stored } = scene();
  insertion.early();
  expect(await insertion.withFirstPass(FIRST_PASS, NO_SIDE)).toBe('inserted-before');
  expect(stored).toEqual([null]);
});

it('tells both who started it and the first pass that the store has not answered', async () => {
  const insertion = new FirstInsertion(() => Promise.reject(new StoreUnavailableError('down')));
  insertion.early();
  await expect(insertion.withFirstPass(FIRST_PASS, NO_SIDE)).rejects.toThrow('down');
  await expect(insertion.result).rejects.toThrow('down');
});
