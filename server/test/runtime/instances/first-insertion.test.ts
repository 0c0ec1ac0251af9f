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
const NOTHING = { side: NO_SIDE, slots: undefined };

it('stores the result of the first pass', async () => {
  const { insertion, stored } = scene();
  expect(await insertion.withFirstPass(FIRST_PASS, NOTHING)).toBe('inserted');
  insertion.early();
  expect(stored).toEqual([FIRST_PASS]);
  expect(await insertion.result).toEqual({ outcome: 'inserted' });
});

it('stores a run in its initial state if the first pass takes long, and notifies the pass', async () => {
  const { insertion, stored } = scene();
  insertion.early();
  expect(await insertion.withFirstPass(FIRST_PASS, NOTHING)).toBe('inserted-before');
  expect(stored).toEqual([null]);
});

it('reports an unavailable store to both the caller and the first pass', async () => {
  const insertion = new FirstInsertion(() => Promise.reject(new StoreUnavailableError('down')));
  insertion.early();
  await expect(insertion.withFirstPass(FIRST_PASS, NOTHING)).rejects.toThrow('down');
  await expect(insertion.result).rejects.toThrow('down');
});

it('inserts again after its slots were refused, and reports only the last result', async () => {
  const on = { limit: 'l', key: '' };
  const refused = [{ execution: 'i/1/1', on }];
  const results = [{ outcome: 'no-slots', refused }, { outcome: 'inserted' }] as const;
  let inserts = 0;
  const insertion = new FirstInsertion(() => Promise.resolve(results[inserts++]!));
  expect(await insertion.withFirstPass(FIRST_PASS, NOTHING)).toEqual({ refused });
  expect(await insertion.withFirstPass(FIRST_PASS, NOTHING)).toBe('inserted');
  expect(await insertion.result).toEqual({ outcome: 'inserted' });
  expect(inserts).toBe(2);
});
