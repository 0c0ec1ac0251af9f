/** Goal: an observer sees every operation, and can intervene before and after it. */
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import {
  observeStore,
  STORE_OPERATION_KINDS,
  type FinishedStoreCall,
  type StoreCall,
} from '../../src/store/observed-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { describeStore, type StoreFixture } from './conformance.js';
import { instanceOf, NO_SIDE } from './records.js';

describeStore('an observed store', async (): Promise<StoreFixture> => {
  let store = createMemoryStore();
  await store.start();
  const observed = (): Store => observeStore(store, { before: async () => {}, after: () => {} });
  return {
    get store(): Store {
      return observed();
    },
    open: () => Promise.resolve(observed()),
    clear: () => {
      store = createMemoryStore();
      return Promise.resolve();
    },
    close: () => store.stop(),
  };
});

describe('observeStore', () => {
  const insert = (store: Store, id: string) =>
    store.insertInstance({ record: instanceOf(id), side: NO_SIDE });

  it('reports name, kind, arguments, duration and error of every operation', async () => {
    const started: StoreCall[] = [];
    const finished: FinishedStoreCall[] = [];
    const store = observeStore(createMemoryStore(), {
      before: (call) => void started.push(call),
      after: (call) => void finished.push(call),
    });
    await insert(store, 'i');
    await store.getInstance('i');
    expect(started.map(({ name, kind }) => [name, kind])).toEqual([
      ['insertInstance', 'write'],
      ['getInstance', 'read'],
    ]);
    expect(started[1]?.args).toEqual(['i']);
    expect(finished.map(({ name, error }) => [name, error])).toEqual([
      ['insertInstance', null],
      ['getInstance', null],
    ]);
    expect(finished[0]?.durationMs).toBeGreaterThanOrEqual(0);
  });

  it("doesn't carry out an operation that `before` rejects", async () => {
    const inner = createMemoryStore();
    const store = observeStore(inner, {
      before: ({ kind }) => {
        if (kind === 'write') throw new StoreUnavailableError('The store went away');
      },
    });
    await expect(insert(store, 'i')).rejects.toThrow('The store went away');
    expect(await store.getInstance('i')).toBeNull();
  });

  it('simulates a process that dies at the nth call', async () => {
    const inner = createMemoryStore();
    let calls = 0;
    const store = observeStore(inner, {
      before: () => {
        calls += 1;
        return calls === 2 ? new Promise<never>(() => {}) : undefined;
      },
    });
    await insert(store, 'a');
    let answered = false;
    void insert(store, 'b').then(() => (answered = true));
    await insert(store, 'c');
    expect(answered).toBe(false);
    expect(await inner.getInstance('b')).toBeNull();
    expect(await inner.getInstance('c')).not.toBeNull();
  });

  it('simulates a response that is lost after the operation', async () => {
    const inner = createMemoryStore();
    const store = observeStore(inner, {
      after: () => {
        throw new StoreUnavailableError('No answer in time');
      },
    });
    await expect(insert(store, 'i')).rejects.toThrow(StoreUnavailableError);
    expect(await inner.getInstance('i')).not.toBeNull();
  });

  it('reports errors of the store and rethrows them', async () => {
    const inner: Store = {
      ...createMemoryStore(),
      ping: () => Promise.reject(new StoreUnavailableError('away')),
    };
    const errors: unknown[] = [];
    const store = observeStore(inner, { after: ({ error }) => void errors.push(error) });
    await expect(store.ping()).rejects.toThrow('away');
    expect(errors).toEqual([new StoreUnavailableError('away')]);
  });

  it('classifies every operation as a read or a write', () => {
    const store = createMemoryStore();
    const others = ['kind', 'storesDeliveries', 'start', 'stop'];
    const operations = Object.keys(store).filter((key) => !others.includes(key));
    expect(Object.keys(STORE_OPERATION_KINDS).sort()).toEqual(operations.sort());
  });
});
