/** The queue for whatever is limited: shares, turns, and entries that leave. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  QueueFullError,
  WeightedQueue,
  type Permit,
  type WeightedQueueLimits,
} from '../../../src/base/limits/weighted-queue.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

function queueOf(limit = 100, waitingMax = 100): WeightedQueue {
  return new WeightedQueue({
    limit,
    limitPerCaller: limit / 2,
    waitingMax,
    waitingPerCallerMax: Math.max(1, waitingMax / 2),
  });
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
  it('gives a caller its share, and lets others overtake the excess', async () => {
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

  it('admits an entry that is larger than the limit alone, and lets no other overtake it', async () => {
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

  it('counts growth at once, and admits no caller until it has shrunk', async () => {
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

  it('keeps within the limit and the shares, loses no caller and ends with nothing counted', async () => {
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

describe('WeightedQueue of turns', () => {
  const LIMITS: WeightedQueueLimits = {
    limit: 2,
    limitPerCaller: 1,
    waitingMax: 5,
    waitingPerCallerMax: 3,
  };

  /** Requests of weight 1 that note when they start. */
  class Requests {
    readonly started: string[] = [];
    readonly queue: WeightedQueue;
    readonly #permits = new Map<string, Permit>();

    constructor(limits: Partial<WeightedQueueLimits> = {}) {
      this.queue = new WeightedQueue({ ...LIMITS, ...limits });
    }

    /** @param name the caller, and a number */
    async ask(name: string, aborted?: AbortSignal): Promise<void> {
      const [caller = ''] = name.split(' ');
      const permit = await this.queue.enter(caller, 1, aborted);
      this.started.push(name);
      this.#permits.set(name, permit);
    }

    async end(name: string): Promise<void> {
      this.#permits.get(name)!.release();
      await settle();
    }
  }

  it('gives a turn at once while there is room', () => {
    const queue = new WeightedQueue(LIMITS);
    expect(queue.tryEnter('a', 1)).not.toBeNull();
    expect(queue.tryEnter('a', 1)).toBeNull();
    expect(queue.tryEnter('b', 1)).not.toBeNull();
    expect(queue.tryEnter('c', 1)).toBeNull();
  });

  it('gives each caller a few turns only, and lets the callers alternate', async () => {
    const requests = new Requests({ limit: 1 });
    for (const name of ['a 1', 'a 2', 'a 3', 'b 1', 'c 1', 'b 2']) void requests.ask(name);
    await settle();
    const order = ['a 1', 'a 2', 'b 1', 'c 1', 'a 3', 'b 2'];
    for (const name of order) await requests.end(name);
    expect(requests.started).toEqual(order);
  });

  it('passes over a caller who has all of its turns', async () => {
    const requests = new Requests();
    for (const name of ['a 1', 'a 2', 'b 1', 'c 1']) void requests.ask(name);
    await settle();
    expect(requests.started).toEqual(['a 1', 'b 1']);
    await requests.end('b 1');
    expect(requests.started).toEqual(['a 1', 'b 1', 'c 1']);
    await requests.end('c 1');
    expect(requests.queue.waiting).toBe(1);
    await requests.end('a 1');
    expect(requests.started.at(-1)).toBe('a 2');
  });

  it('ends a turn once, however often it is released', async () => {
    const queue = new WeightedQueue({ ...LIMITS, limit: 1 });
    const permit = await queue.enter('a', 1);
    permit.release();
    permit.release();
    expect(queue.tryEnter('b', 1)).not.toBeNull();
    expect(queue.tryEnter('c', 1)).toBeNull();
  });

  it('refuses excess entries of one caller, and of all', async () => {
    const requests = new Requests({ limit: 1 });
    for (const name of ['a 1', 'a 2', 'a 3', 'a 4']) void requests.ask(name);
    await expect(requests.ask('a 5')).rejects.toMatchObject({ shortage: 'share' });
    for (const name of ['b 1', 'b 2']) void requests.ask(name);
    await expect(requests.ask('c 1')).rejects.toThrow(QueueFullError);
    await expect(requests.ask('c 1')).rejects.toMatchObject({ shortage: 'total' });
    expect(requests.queue.waiting).toBe(5);
  });

  it('forgets a request whose caller has gone, and keeps no turn for it', async () => {
    const requests = new Requests({ limit: 1 });
    const gone = new AbortController();
    void requests.ask('a 1');
    const asked = requests.ask('a 2', gone.signal);
    void requests.ask('a 3');
    await settle();
    gone.abort();
    await expect(asked).rejects.toThrow('abort');
    expect(requests.queue.waiting).toBe(1);
    await requests.end('a 1');
    expect(requests.started).toEqual(['a 1', 'a 3']);
    await expect(requests.ask('b 1', gone.signal)).rejects.toThrow('abort');
    await requests.end('a 3');
    await requests.ask('c 1');
    expect(requests.started.at(-1)).toBe('c 1');
  });
});
