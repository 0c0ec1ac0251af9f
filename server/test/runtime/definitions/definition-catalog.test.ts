/** Goal: a node never starts an old version for long because it read the store while a new one was added. */
import { expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { Store } from '../../../src/store/store.js';
import {
  DefinitionCatalog,
  type DefinitionCatalogOptions,
} from '../../../src/runtime/definitions/definition-catalog.js';
import { ManualClock } from '../support/manual-clock.js';

it('does not keep the version that it read before it was told of a newer one', async () => {
  const store = createMemoryStore();
  const post = () =>
    store.insertDefinition(
      {
        id: 'd',
        description: null,
        body: '{"id":"d","steps":[{"id":"a","stepType":"NoOp"}]}',
        createdAt: 1,
        source: null,
      },
      null,
    );
  await post();
  /** Each read waits for the test, with what it has found. */
  const reads: (() => void)[] = [];
  const slow: Partial<Store> = {
    getDefinition: async (id, version) => {
      const record = await store.getDefinition(id, version);
      await new Promise<void>((resolve) => reads.push(resolve));
      return record;
    },
  };
  const options = {
    clock: new ManualClock(),
    store: slow as Store,
    isShared: () => true,
    mayBeStale: () => false,
  };
  const catalog = new DefinitionCatalog(options as unknown as DefinitionCatalogOptions);
  const versionOf = async (read: number): Promise<number> => {
    const reading = catalog.latest('d');
    await expect.poll(() => reads.length).toBe(read);
    if (read === 1) {
      await post();
      catalog.forget('d');
    }
    reads.at(-1)?.();
    return (await reading).version;
  };
  expect(await versionOf(1)).toBe(1);
  expect(await versionOf(2)).toBe(2);
  // The second one is kept.
  expect((await catalog.latest('d')).version).toBe(2);
  expect(reads).toHaveLength(2);
});
