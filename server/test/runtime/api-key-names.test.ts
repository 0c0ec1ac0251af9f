/** AK5: what happens to a name when a node dies, or is slow, between two writes. */
import { beforeEach, expect, it } from 'vitest';
import { ApiKeyNames } from '../../src/runtime/access/api-key-names.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import type { Store } from '../../src/store/store.js';

let store: Store;
let names: ApiKeyNames;
beforeEach(() => {
  store = createMemoryStore();
  names = new ApiKeyNames(store);
});

const put = (name: string): Promise<boolean> =>
  store.saveResource({ kind: 'api-key', name, revision: 1, expiresAt: null, body: '{}' }, null);

it('gives the name from a node that died before it stored the key to the next one', async () => {
  await names.take('billing', 'k1');
  const next = await names.take('billing', 'k2');
  await put('k2');
  expect(await next?.confirm()).toBe(true);
  expect(await names.take('billing', 'k3')).toBeNull();
});

it('refuses the key of a node that was so slow that another took the name', async () => {
  const slow = await names.take('billing', 'k1');
  const fast = await names.take('billing', 'k2');
  await put('k2');
  expect(await fast?.confirm()).toBe(true);
  await put('k1');
  expect(await slow?.confirm()).toBe(false);
});

it('keeps the name of a key whose node died before it confirmed', async () => {
  await names.take('billing', 'k1');
  await put('k1');
  expect(await names.take('billing', 'k2')).toBeNull();
});

it('releases a name with the removal of its key, and not with that of another key', async () => {
  const taken = await names.take('billing', 'k1');
  await put('k1');
  await taken?.confirm();
  await names.release('billing', 'k0', 5);
  expect(await store.purgeResources(10, 10)).toBe(0);
  await store.removeResource('api-key', 'k1');
  await names.release('billing', 'k1', 5);
  const other = await names.take('billing', 'k2');
  // The purge does not remove the note of the new owner.
  expect(await store.purgeResources(10, 10)).toBe(0);
  await put('k2');
  expect(await other?.confirm()).toBe(true);
});
