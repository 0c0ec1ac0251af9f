/** Contract cases: what a database refuses because of its data is told from an outage, and harms nothing else (rule S12). */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { StoreRefusedError } from '../../../src/store/store.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, eventOf, instanceOf, NO_SIDE } from '../records.js';

/** Too long for the indexes of PostgreSQL. Random characters, because it compresses before it refuses. */
const LONG = randomBytes(16_000).toString('base64');
/** Larger than a document of MongoDB. */
const HUGE = randomBytes(18 * 1024 * 1024).toString('base64');

export function describeRefusedValues(test: StoreUnderTest): void {
  /** Resolves with whether it was stored. @throws any other error than the one of the contract */
  const isStored = (write: Promise<unknown>): Promise<boolean> =>
    write.then(
      () => true,
      (error: unknown) => {
        if (error instanceof StoreRefusedError) return false;
        throw error;
      },
    );
  const insert = (id: string, changes: Parameters<typeof instanceOf>[1] = {}) =>
    test.store.insertInstance({ record: instanceOf(id, changes), side: NO_SIDE });

  describe('a value that a database may refuse', () => {
    it.each([
      ['a long reference', { reference: LONG }],
      ['a long id of the definition', { definitionId: LONG }],
      ['a long tag', { tags: { t: LONG } }],
      ['a huge state', { state: HUGE }],
    ])('is stored or refused alone in an insert with %s', async (_what, changes) => {
      const all = [insert('a'), isStored(insert('bad', changes)), insert('b')] as const;
      const [, stored] = await Promise.all(all);
      expect(await test.store.getInstance('a')).not.toBeNull();
      expect(await test.store.getInstance('b')).not.toBeNull();
      const bad = await test.store.getInstance('bad');
      if (stored) expect(bad).toEqual(instanceOf('bad', changes));
      else expect(bad).toBeNull();
    });

    it('is stored or refused alone in a commit', async () => {
      await Promise.all(['a', 'bad', 'b'].map((id) => insert(id)));
      const commit = (id: string, state: string) =>
        test.store.commitInstance(commitOf(instanceOf(id), { state }));
      const all = [commit('a', '1'), isStored(commit('bad', HUGE)), commit('b', '1')] as const;
      const [a, stored, b] = await Promise.all(all);
      expect([a, b]).toEqual(['committed', 'committed']);
      const { revision, state } = (await test.store.getInstance('bad'))!;
      expect(revision).toBe(stored ? 2 : 1);
      expect(state === (stored ? HUGE : '{}')).toBe(true);
    });

    it('is stored or refused alone in messages', async () => {
      await Promise.all(['a', 'bad'].map((id) => insert(id, { state: HUGE.slice(0, 14_000_000) })));
      const post = (instanceId: string, body: string) =>
        test.store.postMessages([{ instanceId, message: { id: 'm', body }, toFullInbox: true }]);
      const all = [post('a', 'short'), isStored(post('bad', HUGE.slice(-8_000_000)))] as const;
      const [[posted], stored] = await Promise.all(all);
      expect(posted).not.toBeNull();
      expect((await test.store.getInstance('bad'))?.inbox).toHaveLength(stored ? 1 : 0);
    });

    it('is stored or refused alone in an event', async () => {
      const event = eventOf('bad', { name: LONG, key: LONG, nameKey: LONG, data: HUGE });
      const all = [isStored(test.store.insertEvent(event)), insertEvent('good')] as const;
      const [stored] = await Promise.all(all);
      expect((await test.store.getEvent('bad')) !== null).toBe(stored);
      expect(await test.store.getEvent('good')).not.toBeNull();
    });

    it('is stored or refused in other records', async () => {
      const resource = { kind: 'webhook', revision: 1, expiresAt: null } as const;
      await isStored(test.store.saveResource({ ...resource, name: LONG, body: '{}' }, null));
      await isStored(test.store.saveResource({ ...resource, name: 'n', body: HUGE }, null));
      const script = { name: LONG, source: HUGE, createdAt: 1 };
      await isStored(test.store.insertStepScript(script));
      const definition = { id: LONG, description: LONG, body: HUGE, createdAt: 1 };
      await isStored(test.store.insertDefinition(definition, null));
      await expect(test.store.ping()).resolves.toBeUndefined();
    });

    const insertEvent = (id: string) => test.store.insertEvent(eventOf(id, { data: '1' }));
  });
}
