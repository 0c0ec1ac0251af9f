/** Contract cases: history, subscriptions and activities that come with a commit or an insertion (rule S4). */
import { describe, expect, it } from 'vitest';
import type { StoreUnderTest } from '../conformance.js';
import {
  claimOf,
  activityOf,
  claimBy,
  commitOf,
  eventOf,
  instanceOf,
  NO_SIDE,
} from '../records.js';

export function describeSideRecords(test: StoreUnderTest): void {
  const get = async (id: string) => (await test.store.getInstance(id))!;
  const insert = (id: string, side = NO_SIDE) =>
    test.store.insertInstance({ record: instanceOf(id), side });
  const claim = (name: string, now: number) =>
    claimOf(test.store, { name, now, claim: claimBy('w'), deferMs: 1000 });
  const subscribers = async (nameKey: string) =>
    (await test.store.findSubscriptions(nameKey, 10_000, null, 50)).map(({ id }) => id);
  const step = (sequence: number) => ({ instanceId: 'i', sequence, body: `step ${sequence}` });
  const subscription = (id: string, nameKey = 'paid/7') => ({
    id,
    instanceId: 'i',
    nameKey,
    effectiveAt: 0,
  });

  describe('side records', () => {
    it('stores the side records of an insert', async () => {
      await insert('i', {
        history: [step(0), step(1)],
        subscriptions: [subscription('i/1/0')],
        activities: [activityOf('i/2/0', 'i')],
      });
      expect(await test.store.readHistory('i', 0, 10)).toEqual([step(0), step(1)]);
      expect(await subscribers('paid/7')).toEqual(['i/1/0']);
      expect((await claim('ship', 2000))?.id).toBe('i/2/0');
    });

    it('stores the side records of a commit, and deletes removed ones', async () => {
      await insert('i', {
        ...NO_SIDE,
        subscriptions: [subscription('i/1/0'), subscription('i/2/0')],
        activities: [activityOf('i/3/0', 'i'), activityOf('i/4/0', 'i', { name: 'pack' })],
      });
      await test.store.commitInstance(
        commitOf(await get('i'), {
          side: {
            history: [step(0)],
            subscriptions: [subscription('i/5/0')],
            activities: [activityOf('i/6/0', 'i', { name: 'bill' })],
          },
          removeSubscriptions: ['i/1/0', 'unknown'],
          removeActivities: ['i/3/0', 'unknown'],
          settleActivities: ['unknown'],
        }),
      );
      await expect.poll(() => subscribers('paid/7')).toEqual(['i/2/0', 'i/5/0']);
      expect(await test.store.readHistory('i', 0, 10)).toEqual([step(0)]);
      expect(await claim('ship', 2000)).toBeNull();
      expect((await claim('pack', 2000))?.id).toBe('i/4/0');
      expect((await claim('bill', 2000))?.id).toBe('i/6/0');
    });

    it('hides the side records of a failed commit, which removes nothing', async () => {
      await insert('i', { ...NO_SIDE, subscriptions: [subscription('i/1/0')] });
      const commit = commitOf(instanceOf('i', { epoch: 9 }), {
        side: {
          history: [],
          subscriptions: [subscription('i/2/0')],
          activities: [activityOf('i/3/0', 'i')],
        },
        removeSubscriptions: ['i/1/0'],
      });
      expect(await test.store.commitInstance(commit)).toBe('lost');
      expect(await subscribers('paid/7')).toEqual(['i/1/0']);
      expect(await claim('ship', 2000)).toBeNull();
    });

    it('replaces the side records of a lost pass with those of its repetition', async () => {
      await insert('i');
      const before = await get('i');
      await test.store.postMessages([{ instanceId: 'i', message: { id: 'm', body: '' } }]);
      const sideOf = (nameKey: string, name: string, body: string) => ({
        history: [{ instanceId: 'i', sequence: 0, body }],
        subscriptions: [subscription('i/1/0', nameKey)],
        activities: [activityOf('i/2/0', 'i', { name })],
      });
      const first = commitOf(before, { side: sideOf('lost/1', 'lost', 'lost') });
      expect(await test.store.commitInstance(first)).toBe('lost');
      const second = commitOf(await get('i'), { side: sideOf('kept/1', 'kept', 'kept') });
      expect(await test.store.commitInstance(second)).toBe('committed');
      expect(await subscribers('lost/1')).toEqual([]);
      expect(await subscribers('kept/1')).toEqual(['i/1/0']);
      expect(await claim('lost', 2000)).toBeNull();
      expect((await claim('kept', 2000))?.id).toBe('i/2/0');
      expect((await test.store.readHistory('i', 0, 5)).map(({ body }) => body)).toEqual(['kept']);
    });

    it('identifies side records by id, so repeated writes change nothing', async () => {
      const side = {
        history: [step(0)],
        subscriptions: [subscription('i/1/0')],
        activities: [activityOf('i/2/0', 'i')],
      };
      await insert('i', side);
      const held = await claim('ship', 2000);
      await test.store.commitInstance(commitOf(await get('i'), { side }));
      expect(await test.store.readHistory('i', 0, 10)).toEqual([step(0)]);
      expect(await subscribers('paid/7')).toEqual(['i/1/0']);
      expect(await claim('ship', 2000)).toBeNull();
      expect(await test.store.extendActivity('i/2/0', held!.tokenHash!, 5000, 2000)).toEqual({
        name: 'ship',
        withdrawn: false,
      });
    });

    it('leaves an item that was created as claimed to its worker', async () => {
      const claimed = activityOf('i/1/0', 'i', { claim: claimBy('poller', 3000) });
      await insert('i', { ...NO_SIDE, activities: [claimed] });
      expect(await claim('ship', 2999)).toBeNull();
      expect(await test.store.extendActivity('i/1/0', 'token-poller', 4000, 2000)).toEqual({
        name: 'ship',
        withdrawn: false,
      });
      expect(await claim('ship', 3999)).toBeNull();
      const next = await claim('ship', 4000);
      expect(next).toMatchObject({ id: 'i/1/0', attempt: 2, tokenHash: 'token-w', workerId: 'w' });
    });

    it("claims an available item if it's created as claimed", async () => {
      await insert('i', { ...NO_SIDE, activities: [activityOf('i/1/0', 'i')] });
      const claimed = activityOf('i/1/0', 'i', { claim: claimBy('poller') });
      const side = { ...NO_SIDE, activities: [claimed] };
      await test.store.commitInstance(commitOf(await get('i'), { side }));
      expect(await claim('ship', 2000)).toBeNull();
      expect(await test.store.releaseActivity('i/1/0', 'token-poller')).toMatchObject({
        name: 'ship',
      });
      expect((await claim('ship', 2000))?.attempt).toBe(2);
    });

    it('reads the history in pages', async () => {
      const history = Array.from({ length: 25 }, (_, sequence) => step(sequence));
      await insert('i', { ...NO_SIDE, history });
      await insert('i2', { ...NO_SIDE, history: [{ ...step(0), instanceId: 'i2' }] });
      const sequences = async (from: number, limit: number) =>
        (await test.store.readHistory('i', from, limit)).map(({ sequence }) => sequence);
      expect(await sequences(0, 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(await sequences(8, 3)).toEqual([8, 9, 10]);
      expect(await sequences(23, 10)).toEqual([23, 24]);
      expect(await sequences(25, 10)).toEqual([]);
    });

    it("doesn't restore removed side records when a start is repeated", async () => {
      const start = () =>
        test.store.insertInstance({
          record: instanceOf('i', { requestHash: 'hash' }),
          side: {
            ...NO_SIDE,
            subscriptions: [subscription('i/1/0')],
            activities: [activityOf('i/2/0', 'i')],
          },
        });
      await start();
      const removals = { removeSubscriptions: ['i/1/0'], removeActivities: ['i/2/0'] };
      await test.store.commitInstance(commitOf(await get('i'), removals));
      expect((await start()).outcome).toBe('exists');
      expect(await claim('ship', 2000)).toBeNull();
      await expect.poll(() => subscribers('paid/7')).toEqual([]);
    });

    it('keeps the side records of an existing instance', async () => {
      await insert('i', { ...NO_SIDE, activities: [activityOf('i/1/0', 'i')] });
      const held = await claim('ship', 2000);
      await insert('i', { ...NO_SIDE, activities: [activityOf('i/1/0', 'i')] });
      expect(held?.id).toBe('i/1/0');
      expect(await claim('ship', 2000)).toBeNull();
    });
  });

  it('reports that no stored event fits new subscriptions only if that is true', async () => {
    const isTold = ['sqlite', 'memory'].includes(test.store.kind);
    const insertAt = (id: string, effectiveAt: number) =>
      insert(id, {
        ...NO_SIDE,
        subscriptions: [{ ...subscription(`${id}/1/0`), instanceId: id, effectiveAt }],
      });
    const told = { outcome: 'inserted', ...(isTold && { noEvents: true }) };
    expect(await insertAt('i', 0)).toEqual(told);
    await test.store.insertEvent(eventOf('e', { publishedAt: 500 }));
    expect(await insertAt('j', 500)).toEqual({ outcome: 'inserted' });
    expect(await insertAt('k', 501)).toEqual(told);
    expect(await insert('l')).toEqual({ outcome: 'inserted' });
  });

  it('keeps an event without subscriptions for later waits', async () => {
    await test.store.insertEvent(eventOf('e', { publishedAt: 500 }));
    await insert('i', { ...NO_SIDE, subscriptions: [subscription('i/1/0')] });
    const found = await test.store.findEvents('paid/7', { publishedAt: 0, id: '' }, 5);
    expect(found.map(({ id }) => id)).toEqual(['e']);
  });
}
