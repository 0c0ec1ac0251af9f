/** Goal: the memory store keeps the contract, and completes its operations without a turn of the event loop. */
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';
import { describeStore, type StoreFixture } from './conformance.js';
import { instanceOf, NO_SIDE } from './records.js';

describeStore('the memory store', async (): Promise<StoreFixture> => {
  let store = createMemoryStore();
  await store.start();
  return {
    get store(): Store {
      return store;
    },
    open: () => Promise.resolve(store),
    clear: () => {
      store = createMemoryStore();
      return Promise.resolve();
    },
    close: () => store.stop(),
  };
});

describe('createMemoryStore', () => {
  it('has completed an operation when the call returns', async () => {
    const store = createMemoryStore();
    const results = [
      store.insertInstance({ record: instanceOf('i'), side: NO_SIDE }),
      store.claimInstance({ id: 'i', epoch: 1, owner: 'a', suspected: false }),
      store.claimInstance({ id: 'i', epoch: 1, owner: 'b', suspected: false }),
    ];
    expect(await Promise.all(results)).toMatchObject([
      { outcome: 'inserted' },
      { owner: 'a' },
      null,
    ]);
  });

  it('keeps its content across stop and start', async () => {
    const store = createMemoryStore();
    await store.insertInstance({ record: instanceOf('i'), side: NO_SIDE });
    await store.stop();
    await store.start();
    expect(await store.getInstance('i')).not.toBeNull();
  });

  it('returns records that later operations do not modify', async () => {
    const store = createMemoryStore();
    await store.insertInstance({ record: instanceOf('i'), side: NO_SIDE });
    const before = await store.getInstance('i');
    await store.postMessages([{ instanceId: 'i', message: { id: 'm', body: '' } }]);
    expect(before).toEqual(instanceOf('i'));
  });
});
