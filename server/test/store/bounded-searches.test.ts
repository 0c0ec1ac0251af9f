/** Goal: searches of callers take turns, whoever asks for them; everything else passes. */
import { describe, expect, it } from 'vitest';
import { runForCaller, runForServer } from '../../src/base/limits/current-caller.js';
import { callerOf } from '../support/caller.js';
import { WeightedQueue, type WeightedQueueLimits } from '../../src/base/limits/weighted-queue.js';
import { boundSearches } from '../../src/store/bounded-searches.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { observeStore, type StoreOperation } from '../../src/store/observed-store.js';
import type { Store } from '../../src/store/store.js';
import { describeStore, type StoreFixture } from './conformance.js';
import { instanceOf, NO_SIDE } from './records.js';

const LIMITS: WeightedQueueLimits = {
  limit: 2,
  limitPerCaller: 1,
  waitingMax: 3,
  waitingPerCallerMax: 2,
};

describeStore('a store with bounded searches', async (): Promise<StoreFixture> => {
  let store = createMemoryStore();
  await store.start();
  const bounded = (): Store =>
    boundSearches(store, { queue: new WeightedQueue(LIMITS), refused: () => undefined });
  return {
    get store(): Store {
      return bounded();
    },
    open: () => Promise.resolve(bounded()),
    clear: () => {
      store = createMemoryStore();
      return Promise.resolve();
    },
    close: () => store.stop(),
  };
});

/** A store whose operations end when they are told to. */
class SlowStore {
  readonly running: StoreOperation[] = [];
  readonly refusals: string[] = [];
  readonly queue = new WeightedQueue(LIMITS);
  readonly store: Store;
  readonly #ends: (() => void)[] = [];

  constructor() {
    const slow = observeStore(createMemoryStore(), {
      before: async ({ name }) => {
        this.running.push(name);
        await new Promise<void>((resolve) => this.#ends.push(resolve));
      },
    });
    this.store = boundSearches(slow, {
      queue: this.queue,
      refused: (of) => void this.refusals.push(of),
    });
  }

  /** A search of this caller. */
  count(key: string, gone = new AbortController().signal): Promise<unknown> {
    return as(key, () => this.countForCaller(), gone);
  }

  countForCaller(): Promise<unknown> {
    return this.store.countInstances({ filter: {}, after: null, max: 1 });
  }

  /** Ends the oldest operation. */
  async endOne(): Promise<void> {
    this.running.shift();
    this.#ends.shift()?.();
    await new Promise(setImmediate);
  }
}

function as<Result>(
  key: string,
  work: () => Promise<Result>,
  gone = new AbortController().signal,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    runForCaller(callerOf(key, gone), () => void work().then(resolve, reject));
  });
}

describe('boundSearches', () => {
  it('runs a few searches per caller and in total at the same time', async () => {
    const slow = new SlowStore();
    const counts = [slow.count('a'), slow.count('a'), slow.count('b'), slow.count('c')];
    expect(slow.running).toEqual(['countInstances', 'countInstances']);
    expect(slow.queue.waiting).toBe(2);
    while (slow.running.length > 0) await slow.endOne();
    await expect(Promise.all(counts)).resolves.toHaveLength(4);
    expect(slow.queue.waiting).toBe(0);
  });

  it("admits all other operations and the server's own searches at once", async () => {
    const slow = new SlowStore();
    const searches = Array.from({ length: 3 }, () => slow.count('a'));
    const passed = [
      as('a', () => slow.store.getInstance('i')),
      as('a', () => slow.store.insertInstance({ record: instanceOf('i'), side: NO_SIDE })),
      as('a', () => runForServer(() => slow.countForCaller())),
      slow.countForCaller(),
    ];
    const names = ['getInstance', 'insertInstance', 'countInstances', 'countInstances'];
    expect(slow.running).toEqual(['countInstances', ...names]);
    while (slow.running.length > 0) await slow.endOne();
    await Promise.all([...searches, ...passed]);
  });

  it('refuses and counts a search if too many wait, for its caller or in total', async () => {
    const slow = new SlowStore();
    const counts = ['a', 'a', 'a', 'b', 'b', 'b'].map((key) => slow.count(key));
    await expect(slow.count('a')).rejects.toMatchObject({
      code: 'too_many_requests',
      retryAfterSeconds: 1,
    });
    await expect(slow.count('c')).rejects.toMatchObject({ code: 'overloaded' });
    const results = Promise.allSettled(counts);
    while (slow.running.length > 0) await slow.endOne();
    const refused = (await results).filter(({ status }) => status === 'rejected');
    // Of the six, two ran and three could wait.
    expect(refused).toHaveLength(1);
    expect(slow.refusals).toEqual(['all', 'caller', 'all']);
  });

  it('skips the search of a caller that has gone', async () => {
    const slow = new SlowStore();
    const gone = new AbortController();
    const first = slow.count('a');
    const abandoned = slow.count('a', gone.signal);
    const last = slow.count('a');
    gone.abort();
    await expect(abandoned).rejects.toThrow('no caller is waiting');
    await slow.endOne();
    await slow.endOne();
    await Promise.all([first, last]);
    expect(slow.running).toEqual([]);
  });
});
