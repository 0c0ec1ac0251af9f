/**
 * Goal: however many long computations there are, anyone waiting for a turn of the event loop waits for only one slice
 * of one of them.
 * Method: counts the turns of the loop beside the computations; each part records the turn in which it ran.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { inSlices, nextSlice, CanceledError } from '../src/base/slices.js';

/** Counts turns of the event loop until the test ends. */
function countTurns(): { readonly turns: number } {
  const counted = { turns: 0 };
  const tick = (): void => {
    counted.turns += 1;
    next = setImmediate(tick);
  };
  let next = setImmediate(tick);
  onTestFinished(() => clearImmediate(next));
  return counted;
}

function* parts(count: number, ran: () => void): Generator<undefined, string> {
  for (let part = 0; part < count; part += 1) {
    ran();
    yield;
  }
  return 'done';
}

describe('a long computation in slices', () => {
  it('shares one queue with others: each event loop turn runs slices of only one of them', async () => {
    const counted = countTurns();
    const workOfTurn = new Map<number, number>();
    const works = Array.from({ length: 20 }, (_, work) =>
      inSlices(
        parts(50, () => {
          expect(workOfTurn.get(counted.turns) ?? work).toBe(work);
          workOfTurn.set(counted.turns, work);
        }),
      ),
    );
    expect(await Promise.all(works)).toEqual(Array(20).fill('done'));
    expect(workOfTurn.size).toBeGreaterThanOrEqual(20);
  });

  it('runs in the order in which it was queued', async () => {
    const order: number[] = [];
    const asked = [0, 1, 2, 3].map(async (work) => {
      await nextSlice();
      order.push(work);
      await nextSlice();
      order.push(work);
    });
    await Promise.all(asked);
    expect(order).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  });

  it('ends before the next slice if its result is no longer needed', async () => {
    let isWanted = true;
    let ran = 0;
    const endless = parts(Infinity, () => {
      ran += 1;
      isWanted = false;
    });
    await expect(inSlices(endless, () => isWanted)).rejects.toBeInstanceOf(CanceledError);
    expect(ran).toBeGreaterThan(0);
  });

  it('passes its error on', async () => {
    const failing = parts(1, () => {
      throw new Error('broken');
    });
    await expect(inSlices(failing)).rejects.toThrow('broken');
  });
});
