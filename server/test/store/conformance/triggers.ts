/** Triggers: compare-and-set, and the lists of those that are due or wait for an event. */
import { describe, expect, it } from 'vitest';
import type { TriggerRecord } from '../../../src/store/records/triggers.js';
import type { StoreUnderTest } from '../conformance.js';

function triggerOf(id: string, changes: Partial<TriggerRecord> = {}): TriggerRecord {
  const body = '{"name":"nightly"}';
  return { id, definitionId: 'd', dueAt: null, eventHash: null, revision: 1, body, ...changes };
}

const idsOf = (records: readonly TriggerRecord[]): readonly string[] => records.map(({ id }) => id);

export function describeTriggers(test: StoreUnderTest): void {
  describe('triggers', () => {
    it('stores a trigger unchanged', async () => {
      const record = triggerOf('t', {
        definitionId: 'Grüße \ud800',
        dueAt: 1_800_000_000_123,
        eventHash: 'h',
        body: `{"name":"\\u0000 \u{1f600}","long":"${'x'.repeat(20_000)}"}`,
      });
      expect(await test.store.saveTrigger(record, null)).toBe(true);
      expect(await test.store.getTrigger('t')).toEqual(record);
      expect(await test.store.getTrigger('other')).toBeNull();
      expect(await test.store.listTriggers('Grüße \ud800', 10)).toEqual([record]);
    });

    it('replaces a trigger only with the expected revision', async () => {
      const { store } = test;
      expect(await store.saveTrigger(triggerOf('t'), 1)).toBe(false);
      expect(await store.saveTrigger(triggerOf('t'), null)).toBe(true);
      expect(await store.saveTrigger(triggerOf('t'), null)).toBe(false);
      const changed = triggerOf('t', { revision: 2, dueAt: 5, body: '{}' });
      expect(await store.saveTrigger(changed, 2)).toBe(false);
      expect(await store.saveTrigger(changed, 1)).toBe(true);
      expect(await store.getTrigger('t')).toEqual(changed);
    });

    it('removes a trigger only with the expected revision', async () => {
      const { store } = test;
      await store.saveTrigger(triggerOf('t', { revision: 3 }), null);
      expect(await store.removeTrigger('t', 2)).toBe(false);
      expect(await store.removeTrigger('t', 3)).toBe(true);
      expect(await store.removeTrigger('t', 3)).toBe(false);
      expect(await store.getTrigger('t')).toBeNull();
    });

    it('accepts the change of one of several callers with the same expectation', async () => {
      const stores = [test.store, await test.open()];
      await test.store.saveTrigger(triggerOf('t'), null);
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          stores[index % 2]!.saveTrigger(triggerOf('t', { revision: 2, dueAt: index }), 1),
        ),
      );
      expect(results.filter(Boolean)).toHaveLength(1);
      expect((await test.store.getTrigger('t'))?.dueAt).toBe(results.indexOf(true));
    });

    it('inserts the trigger of one of several callers', async () => {
      const stores = [test.store, await test.open()];
      const results = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          stores[index % 2]!.saveTrigger(triggerOf('t', { dueAt: index }), null),
        ),
      );
      expect(results.filter(Boolean)).toHaveLength(1);
    });

    it('finds due triggers, earliest first', async () => {
      const { store } = test;
      const times: Readonly<Record<string, number | null>> = {
        a: 30,
        b: 10,
        c: null,
        d: 20,
        e: 10,
      };
      for (const [id, dueAt] of Object.entries(times)) {
        await store.saveTrigger(triggerOf(id, { dueAt }), null);
      }
      expect(idsOf(await store.findDueTriggers(20, 10))).toEqual(['b', 'e', 'd']);
      expect(idsOf(await store.findDueTriggers(9, 10))).toEqual([]);
      expect(idsOf(await store.findDueTriggers(100, 3))).toEqual(['b', 'e', 'd']);
    });

    it('finds triggers by definition and by event, in pages', async () => {
      const { store } = test;
      for (const id of ['c', 'a', 'b']) {
        await store.saveTrigger(triggerOf(id, { eventHash: 'h' }), null);
      }
      await store.saveTrigger(triggerOf('d', { definitionId: 'other', eventHash: 'i' }), null);
      await store.saveTrigger(triggerOf('e', { definitionId: 'other' }), null);
      expect(idsOf(await store.listTriggers('d', 2))).toEqual(['a', 'b']);
      expect(idsOf(await store.listTriggers('other', 10))).toEqual(['d', 'e']);
      expect(idsOf(await store.findEventTriggers('h', null, 2))).toEqual(['a', 'b']);
      expect(idsOf(await store.findEventTriggers('h', 'b', 2))).toEqual(['c']);
      expect(idsOf(await store.findEventTriggers('missing', null, 2))).toEqual([]);
    });
  });
}
