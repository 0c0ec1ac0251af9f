/** The queue for whatever is limited: shares, turns, and entries that leave. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  QueueFullError,
  WeightedQueue,
  type Permit,
} from '../../../src/base/limits/weighted-queue.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function queueOf(limit = 100, waitingMax = 100): WeightedQueue {
  return new WeightedQueue({ limit, share: 1 / 2, waitingMax });
}

/** Enters, and adds the name to the list when it is admitted. */
function entering(
  queue: WeightedQueue,
  admitted: string[],
  [caller, weight, name = caller]: readonly [caller: string, weight: number, name?: string],
): Promise<Permit> {
  return queue.enter(caller, weight).then((admission) => {
    admitted.push(name);
    return admission;
  });
}

describe('WeightedQueue', () => {
  it('gives a caller its share, and lets others pass what is over', async () => {
    const queue = queueOf();
    const admitted: string[] = [];
    const first = await entering(queue, admitted, ['a', 50]);
    void entering(queue, admitted, ['a', 10, 'a again']);
    void entering(queue, admitted, ['b', 40]);
    await settle();
    expect(admitted).toEqual(['a', 'b']);
    first.release();
    await settle();
    expect(admitted).toEqual(['a', 'b', 'a again']);
  });

  it('lets callers take turns, however many entries each has', async () => {
    const queue = queueOf(10);
    const admitted: string[] = [];
    const first = await entering(queue, admitted, ['x', 10]);
    for (const caller of ['a', 'a', 'a', 'b', 'b', 'c']) {
      void entering(queue, admitted, [caller, 10]).then((admission) => admission.release());
    }
    expect(queue.waiting).toBe(6);
    first.release();
    await settle();
    expect(admitted.slice(1)).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('admits an entry that is larger than the limit alone, and nobody overtakes it', async () => {
    const queue = queueOf();
    const admitted: string[] = [];
    const small = await entering(queue, admitted, ['a', 10]);
    const large = entering(queue, admitted, ['b', 500]);
    void entering(queue, admitted, ['c', 1]);
    await settle();
    expect(admitted).toEqual(['a']);
    small.release();
    const alone = await large;
    await settle();
    expect(admitted).toEqual(['a', 'b']);
    alone.release();
    await settle();
    expect(admitted).toEqual(['a', 'b', 'c']);
    expect(queue.used).toBe(1);
  });

  it('forgets an entry that leaves, and admits those behind it', async () => {
    const queue = queueOf();
    const admitted: string[] = [];
    const first = await queue.enter('a', 60);
    const leaving = new AbortController();
    const left = queue.enter('b', 50, leaving.signal);
    void entering(queue, admitted, ['c', 30]);
    await settle();
    expect(admitted).toEqual([]);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await settle();
    expect(admitted).toEqual(['c']);
    first.release();
    expect([queue.used, queue.waiting]).toEqual([30, 0]);
    await expect(queue.enter('d', 1, leaving.signal)).rejects.toThrow('gone');
  });

  it('refuses more waiting entries than the limit, and than the share of a caller', async () => {
    const queue = queueOf(10, 4);
    await queue.enter('x', 10);
    const shortageOf = async (caller: string) =>
      queue.enter(caller, 1).catch((error: unknown) => (error as QueueFullError).shortage);
    void queue.enter('a', 1);
    void queue.enter('a', 1);
    expect(await shortageOf('a')).toBe('share');
    void queue.enter('b', 1);
    void queue.enter('b', 1);
    expect(await shortageOf('c')).toBe('total');
  });

  it('counts what grows at once, and admits nobody until it has shrunk', async () => {
    const queue = queueOf();
    const admitted: string[] = [];
    const grown = queue.take('a', 10);
    grown.resize(200);
    void entering(queue, admitted, ['b', 10]);
    await settle();
    expect([admitted, queue.used]).toEqual([[], 200]);
    grown.resize(20);
    await settle();
    expect([admitted, queue.used]).toEqual([['b'], 30]);
    grown.release();
    grown.release();
    grown.resize(50);
    expect(queue.used).toBe(10);
  });

  it('keeps within the limit and the shares, loses nobody and ends with nothing counted', async () => {
    const step = fc.record({
      caller: fc.constantFrom('a', 'b', 'c'),
      weight: fc.integer({ min: 1, max: 60 }),
      releases: fc.nat(3),
      leaves: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const queue = queueOf(100, 1000);
        const held: { caller: string; admission: Permit }[] = [];
        let settled = 0;
        for (const { caller, leaves, releases, weight } of steps) {
          const signal = leaves ? AbortSignal.abort() : undefined;
          queue.enter(caller, weight, signal).then(
            (admission) => {
              settled += 1;
              held.push({ caller, admission });
            },
            () => (settled += 1),
          );
          await settle();
          expect(queue.used).toBeLessThanOrEqual(100);
          for (const each of ['a', 'b', 'c']) {
            const own = held.filter(({ caller: of }) => of === each);
            if (own.length > 1) expect(queue.usedBy(each)).toBeLessThanOrEqual(50);
          }
          for (const { admission } of held.splice(0, releases)) admission.release();
        }
        while (settled < steps.length || held.length > 0) {
          await settle();
          expect(held.length).toBeGreaterThan(0);
          for (const { admission } of held.splice(0)) admission.release();
          await settle();
        }
        expect([queue.used, queue.waiting]).toEqual([0, 0]);
      }),
      { numRuns: 100 },
    );
  });
});
