/** Resources: compare-and-set, lists by kind, and their expiry. */
import { describe, expect, it } from 'vitest';
import type { ResourceRecord } from '../../../src/store/records/resources.js';
import type { StoreUnderTest } from '../conformance.js';

function webhook(name: string, changes: Partial<ResourceRecord> = {}): ResourceRecord {
  return { kind: 'webhook', name, revision: 1, expiresAt: null, body: '{}', ...changes };
}

export function describeResources(test: StoreUnderTest): void {
  describe('resources', () => {
    it('stores a resource unchanged', async () => {
      const record = webhook('Grüße \ud800', {
        expiresAt: 1_800_000_000_123,
        body: `{"secret":"\\u0000 \u{1f600}","long":"${'x'.repeat(20_000)}"}`,
      });
      expect(await test.store.saveResource(record, null)).toBe(true);
      expect(await test.store.getResource('webhook', 'Grüße \ud800')).toEqual(record);
      expect(await test.store.getResource('api-key', 'Grüße \ud800')).toBeNull();
    });

    it('replaces a resource only with the expected revision', async () => {
      const { store } = test;
      expect(await store.saveResource(webhook('w'), 1)).toBe(false);
      expect(await store.saveResource(webhook('w'), null)).toBe(true);
      expect(await store.saveResource(webhook('w'), null)).toBe(false);
      const changed = webhook('w', { revision: 2, body: '{"a":1}', expiresAt: 5 });
      expect(await store.saveResource(changed, 2)).toBe(false);
      expect(await store.saveResource(changed, 1)).toBe(true);
      expect(await store.getResource('webhook', 'w')).toEqual(changed);
    });

    it('inserts the resource of one of several callers', async () => {
      const stores = [test.store, await test.open()];
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          stores[index % 2]!.saveResource(webhook('w', { body: String(index) }), null),
        ),
      );
      expect(results.filter(Boolean)).toHaveLength(1);
      const stored = await test.store.getResource('webhook', 'w');
      expect(stored?.body).toBe(String(results.indexOf(true)));
    });

    it('lists resources by kind and name, and removes them', async () => {
      const { store } = test;
      for (const name of ['b', 'a', 'c']) await store.saveResource(webhook(name), null);
      await store.saveResource(webhook('b', { kind: 'api-key' }), null);
      const names = async (after: string | null, limit: number): Promise<readonly string[]> =>
        (await store.listResources('webhook', after, limit)).map(({ name }) => name);
      expect(await names(null, 10)).toEqual(['a', 'b', 'c']);
      expect(await names('a', 1)).toEqual(['b']);
      expect(await store.removeResource('webhook', 'b')).toBe(true);
      expect(await store.removeResource('webhook', 'b')).toBe(false);
      expect(await names(null, 10)).toEqual(['a', 'c']);
      expect(await store.getResource('api-key', 'b')).not.toBeNull();
    });

    it('purges expired resources, oldest first', async () => {
      const { store } = test;
      await store.saveResource(webhook('never'), null);
      for (const [name, expiresAt] of [
        ['late', 30],
        ['early', 10],
        ['middle', 20],
      ] as const) {
        await store.saveResource(webhook(name, { kind: 'webhook-delivery', expiresAt }), null);
      }
      expect(await store.purgeResources(30, 1)).toBe(1);
      expect(await store.getResource('webhook-delivery', 'early')).toBeNull();
      expect(await store.purgeResources(30, 10)).toBe(1);
      expect(await store.getResource('webhook-delivery', 'late')).not.toBeNull();
      expect(await store.getResource('webhook', 'never')).not.toBeNull();
    });
  });
}
