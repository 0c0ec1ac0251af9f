/** Contract cases: nodes, retention, statistics. */
import { describe, expect, it } from 'vitest';
import { removalRevision, type PurgeRequest } from '../../../src/store/records/housekeeping.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, claimBy, commitOf, eventOf, instanceOf, NO_SIDE } from '../records.js';

const NODE = {
  beatAt: 1,
  url: 'http://127.0.0.1:1',
  version: '1',
  hostname: 'h',
  pid: 7,
  details: null,
};

export function describeHousekeeping(test: StoreUnderTest): void {
  const purge = (request: Partial<PurgeRequest>) =>
    test.store.purge({
      instancesEndedBefore: 0,
      untoldEndedBefore: 0,
      eventsPublishedBefore: 0,
      activitiesDoneBefore: 0,
      limit: 100,
      ...request,
    });

  describe('nodes', () => {
    it('stores, lists and removes nodes', async () => {
      await test.store.putNode({ id: 'b', ...NODE });
      await test.store.putNode({ id: 'a', ...NODE });
      await test.store.putNode({ id: 'b', ...NODE, beatAt: 2, details: '{"load":1}' });
      expect(await test.store.listNodes()).toEqual([
        { id: 'a', ...NODE },
        { id: 'b', ...NODE, beatAt: 2, details: '{"load":1}' },
      ]);
      await test.store.removeNode('a');
      await test.store.removeNode('unknown');
      expect((await test.store.listNodes()).map(({ id }) => id)).toEqual(['b']);
    });
  });

  describe('purge', () => {
    it('removes ended instances with all their records', async () => {
      const sideOf = (id: string) => ({
        history: [{ instanceId: id, sequence: 0, body: 'step' }],
        subscriptions: [{ id: `${id}/1/0`, instanceId: id, nameKey: 'paid/7', effectiveAt: 0 }],
        activities: [activityOf(`${id}/2/0`, id)],
      });
      for (const [id, changes] of [
        ['old', { status: 'Complete', endTime: 10 }],
        ['older', { status: 'Terminated', endTime: 5 }],
        ['new', { status: 'Complete', endTime: 20 }],
        ['live', {}],
      ] as const) {
        await test.store.insertInstance({ record: instanceOf(id, changes), side: sideOf(id) });
      }
      expect((await purge({ instancesEndedBefore: 20 })).instances).toBe(2);
      const { items: left } = await test.store.listInstances({
        filter: {},
        after: null,
        limit: 10,
      });
      expect(left.map(({ id }) => id)).toEqual(['new', 'live']);
      expect(await test.store.readHistory('old', 0, 10)).toEqual([]);
      expect(await test.store.readHistory('new', 0, 10)).toHaveLength(1);
      const subscriptions = await test.store.findSubscriptions('paid/7', 10, null, 10);
      expect(subscriptions.map(({ instanceId }) => instanceId)).toEqual(['live', 'new']);
      expect((await test.store.statistics()).activities[0]?.waiting).toBe(2);
    });

    it('keeps ended instances longer if their end has not been delivered', async () => {
      for (const [id, changes] of [
        ['told', { status: 'Complete', endTime: 10 }],
        ['untold', { status: 'Complete', endTime: 10, wakeAt: 0 }],
        ['untold for long', { status: 'Terminated', endTime: 4, wakeAt: 3 }],
      ] as const) {
        await test.store.insertInstance({ record: instanceOf(id, changes), side: NO_SIDE });
      }
      const request = { instancesEndedBefore: 20, untoldEndedBefore: 5 };
      expect((await purge(request)).instances).toBe(2);
      const { items: left } = await test.store.listInstances({
        filter: {},
        after: null,
        limit: 10,
      });
      expect(left.map(({ id }) => id)).toEqual(['untold']);
    });

    it('applies the retention of an instance instead of the general one, shorter or longer', async () => {
      for (const [id, changes] of [
        ['default', { endTime: 10 }],
        ['short', { endTime: 10, retentionMs: 5 }],
        ['shorter, untold', { endTime: 10, retentionMs: 1, wakeAt: 0 }],
        ['long', { endTime: 1, retentionMs: 1000 }],
        ['also long', { endTime: 1, retentionMs: 2000 }],
      ] as const) {
        const record = instanceOf(id, { status: 'Complete', ...changes });
        await test.store.insertInstance({ record, side: NO_SIDE });
      }
      await test.store.insertInstance({
        record: instanceOf('open', { retentionMs: 1 }),
        side: NO_SIDE,
      });
      const left = async () => {
        const { items } = await test.store.listInstances({ filter: {}, after: null, limit: 10 });
        return items.map(({ id }) => id).sort();
      };
      expect((await purge({ ownRetentionBefore: 15 })).instances).toBe(0);
      expect((await purge({ ownRetentionBefore: 16 })).instances).toBe(1);
      const [untold, ...others] = ['shorter, untold', 'also long', 'default', 'long', 'open'];
      expect(await left()).toEqual([...others, untold].sort());
      const own = { ownRetentionBefore: 900, untoldOwnRetentionBefore: 12 };
      expect((await purge(own)).instances).toBe(1);
      expect((await purge({ ...own, instancesEndedBefore: 900 })).instances).toBe(1);
      expect(await left()).toEqual(['also long', 'long', 'open']);
      expect((await purge({ ownRetentionBefore: 2001 })).instances).toBe(1);
      expect(await left()).toEqual(['also long', 'open']);
    });

    it('leaves no records to another instance with the same id', async () => {
      const inbox = [{ id: 'm', body: 'old' }];
      const ended = instanceOf('i', { status: 'Terminated', endTime: 1, inbox });
      await test.store.insertInstance({
        record: ended,
        side: { ...NO_SIDE, history: [{ instanceId: 'i', sequence: 0, body: 'old' }] },
      });
      expect((await purge({ instancesEndedBefore: 2 })).instances).toBe(1);
      await test.store.insertInstance({ record: instanceOf('i'), side: NO_SIDE });
      expect(await test.store.getInstance('i')).toEqual(instanceOf('i'));
      expect(await test.store.readHistory('i', 0, 5)).toEqual([]);
    });

    it('finds expired instances of each kind up to the limit, oldest first', async () => {
      for (const n of [3, 1, 2]) {
        for (const retentionMs of [null, 10 * n]) {
          const id = `${retentionMs === null ? 'default' : 'own'} ${n}`;
          const record = instanceOf(id, { status: 'Complete', endTime: n, retentionMs });
          await test.store.insertInstance({ record, side: NO_SIDE });
        }
      }
      const limits = { instancesEndedBefore: 9, untoldEndedBefore: 0, ownRetentionBefore: 99 };
      const found = await test.store.findExpiredInstances(limits, 2);
      expect(found).toHaveLength(4);
      expect(found).toEqual(
        expect.arrayContaining([
          { id: 'default 1', inSeq: 0, revision: 1 },
          { id: 'default 2', inSeq: 0, revision: 1 },
        ]),
      );
    });

    it("removes the named instances, unless they're open or have changed", async () => {
      const side = {
        ...NO_SIDE,
        history: [{ instanceId: 'ended', sequence: 0, body: 'step' }],
        activities: [activityOf('ended/1', 'ended')],
      };
      const ended = { status: 'Complete', endTime: 1 } as const;
      const record = instanceOf('ended', { ...ended, tags: { team: 'a' } });
      await test.store.insertInstance({ record, side, input: '{}' });
      await test.store.insertInstance({ record: instanceOf('changed', ended), side: NO_SIDE });
      await test.store.insertInstance({ record: instanceOf('open'), side: NO_SIDE });
      const found = ['ended', 'changed', 'open', 'unknown'].map((id) => instanceOf(id));
      const entry = { time: 1, actor: 'ada', action: 'set-tags', detail: null } as const;
      await test.store.patchTags('changed', { team: 'b' }, entry);
      expect(await test.store.removeInstances(found)).toEqual({ removed: 1, isComplete: true });
      const none = { removed: 0, isComplete: true };
      expect(await test.store.removeInstances(found)).toEqual(none);
      expect(await test.store.removeInstances([])).toEqual(none);
      expect(await test.store.getInstance('ended')).toBeNull();
      expect(await test.store.getInput('ended')).toBeNull();
      expect(await test.store.readHistory('ended', 0, 5)).toEqual([]);
      expect(await test.store.getActivities(['ended/1'])).toEqual([]);
      expect(await test.store.getInstance('changed')).not.toBeNull();
    });

    it('removes an instance with a long history, in several calls if necessary', async () => {
      const record = instanceOf('long', { status: 'Complete', endTime: 1 });
      const others = instanceOf('short', { status: 'Complete', endTime: 2 });
      const history = Array.from({ length: 10_001 }, (_, sequence) => {
        return { instanceId: 'long', sequence, body: 's' };
      });
      await test.store.insertInstance({ record, side: { ...NO_SIDE, history } });
      await test.store.insertInstance({ record: others, side: NO_SIDE });
      let removed = 0;
      for (let isComplete = false; !isComplete;) {
        const removal = await test.store.removeInstances([record, others]);
        removed += removal.removed;
        isComplete = removal.isComplete;
      }
      expect(removed).toBe(2);
      expect(await test.store.getInstance('long')).toBeNull();
      expect(await test.store.readHistory('long', 0, 5)).toEqual([]);
    });

    it('prevents the reopening of an instance once its removal has begun', async () => {
      const record = instanceOf('long', { status: 'Complete', endTime: 1 });
      const history = Array.from({ length: 10_001 }, (_, sequence) => {
        return { instanceId: 'long', sequence, body: 's' };
      });
      await test.store.insertInstance({ record, side: { ...NO_SIDE, history } });
      const reopen = () =>
        test.store.commitInstance(commitOf(record, { status: 'Runnable', endTime: null }));
      const other = await test.open();
      const removal = test.store.removeInstances([record]);
      const isBegun = async () => (await other.readHistory('long', 0, 1))[0]?.sequence !== 0;
      await expect.poll(isBegun, { interval: 1, timeout: 20_000 }).toBe(true);
      expect(await reopen()).toBe('lost');
      let { isComplete } = await removal;
      while (!isComplete) ({ isComplete } = await test.store.removeInstances([record]));
      expect(await test.store.getInstance('long')).toBeNull();
      expect(await test.store.readHistory('long', 0, 1)).toEqual([]);
    });

    it("finishes an interrupted removal, however long the instance's retention is", async () => {
      const revision = removalRevision({ revision: 1 });
      const ended = { status: 'Complete', endTime: 10, retentionMs: 1, revision } as const;
      const side = { ...NO_SIDE, history: [{ instanceId: 'i', sequence: 1, body: 's' }] };
      await test.store.insertInstance({ record: instanceOf('i', ended), side });
      expect((await purge({ ownRetentionBefore: 12 })).instances).toBe(1);
      expect(await test.store.getInstance('i')).toBeNull();
      expect(await test.store.readHistory('i', 0, 5)).toEqual([]);
    });

    it('leaves expired instances to the caller that removes them', async () => {
      const record = instanceOf('i', { status: 'Complete', endTime: 1, retentionMs: null });
      await test.store.insertInstance({ record, side: NO_SIDE });
      expect((await purge({ instancesEndedBefore: 9, keepsInstances: true })).instances).toBe(0);
      expect((await purge({ instancesEndedBefore: 9 })).instances).toBe(1);
    });

    it('removes at most the limit, oldest first', async () => {
      for (const n of [3, 1, 2]) {
        const record = instanceOf(`i${n}`, { status: 'Complete', endTime: n });
        await test.store.insertInstance({ record, side: NO_SIDE });
        await test.store.insertEvent(eventOf(`e${n}`, { publishedAt: n, deliveredTo: 0 }));
      }
      const request = { instancesEndedBefore: 100, eventsPublishedBefore: 100, limit: 2 };
      const rest = { activities: 0, isComplete: true };
      expect(await purge(request)).toEqual({ instances: 2, events: 2, ...rest });
      expect(await test.store.getInstance('i3')).not.toBeNull();
      expect(await test.store.getEvent('e3')).not.toBeNull();
      expect(await purge(request)).toEqual({ instances: 1, events: 1, ...rest });
      expect(await purge(request)).toEqual({ instances: 0, events: 0, ...rest });
    });

    it('removes old events, except undelivered ones', async () => {
      await test.store.insertEvent(eventOf('open', { publishedAt: 1 }));
      await test.store.insertEvent(eventOf('old', { publishedAt: 1, deliveredTo: 0 }));
      await test.store.insertEvent(eventOf('new', { publishedAt: 5, deliveredTo: 0 }));
      expect((await purge({ eventsPublishedBefore: 5 })).events).toBe(1);
      expect(await test.store.getEvent('open')).not.toBeNull();
      expect(await test.store.getEvent('old')).toBeNull();
      expect(await test.store.getEvent('new')).not.toBeNull();
    });

    it('removes activities that are done and settled', async () => {
      const ids = ['a', 'b', 'c'];
      await test.store.insertInstance({
        record: instanceOf('i'),
        side: { ...NO_SIDE, activities: ids.map((id) => activityOf(id, 'i')) },
      });
      for (const id of ['a', 'b']) {
        const claim = claimBy(id);
        await test.store.claimActivity({ name: 'ship', now: 2000, claim, deferMs: 1 });
        await test.store.completeActivity({
          activityId: id,
          tokenHash: claim.tokenHash,
          result: { succeeded: true, data: '1', hash: 'h' },
          now: 3000,
          message: { id, body: '' },
        });
      }
      const record = (await test.store.getInstance('i'))!;
      await test.store.commitInstance(commitOf(record, { settleActivities: ['a'] }));
      expect((await purge({ activitiesDoneBefore: 3000 })).activities).toBe(0);
      await expect
        .poll(async () => (await purge({ activitiesDoneBefore: 3001 })).activities)
        .toBe(1);
      const left = await test.store.findUnsettledActivities(9000, 10);
      expect(left.map(({ id }) => id)).toEqual(['b']);
      expect((await test.store.statistics()).activities[0]?.waiting).toBe(1);
    });
  });

  describe('statistics', () => {
    it('counts instances, waiting items and undelivered events', async () => {
      expect(await test.store.statistics()).toEqual({
        instances: { Runnable: 0, Suspended: 0, Complete: 0, Terminated: 0 },
        activities: [],
        undeliveredEvents: 0,
      });
      const activities = [
        activityOf('1', 'r1', { createdAt: 30 }),
        activityOf('2', 'r1', { createdAt: 20 }),
        activityOf('3', 'r1', { createdAt: 10, claim: claimBy('w') }),
        activityOf('4', 'r1', { name: 'pack' }),
      ];
      await test.store.insertInstance({
        record: instanceOf('r1'),
        side: { ...NO_SIDE, activities },
      });
      await test.store.insertInstance({ record: instanceOf('r2'), side: NO_SIDE });
      for (const status of ['Suspended', 'Complete', 'Terminated'] as const) {
        await test.store.insertInstance({ record: instanceOf(status, { status }), side: NO_SIDE });
      }
      await test.store.insertEvent(eventOf('e'));
      await test.store.insertEvent(eventOf('f', { deliveredTo: 1 }));
      expect(await test.store.statistics()).toEqual({
        instances: { Runnable: 2, Suspended: 1, Complete: 1, Terminated: 1 },
        activities: [
          { name: 'ship', waiting: 2, oldestAvailableAt: 20 },
          { name: 'pack', waiting: 1, oldestAvailableAt: 1000 },
        ],
        undeliveredEvents: 1,
      });
    });

    it('includes the ten activities with the most waiting items', async () => {
      const activities = Array.from({ length: 12 }, (_, n) => n).flatMap((n) =>
        Array.from({ length: n + 1 }, (__, copy) =>
          activityOf(`${n}/${copy}`, 'i', { name: `name ${n}` }),
        ),
      );
      await test.store.insertInstance({
        record: instanceOf('i'),
        side: { ...NO_SIDE, activities },
      });
      const names = (await test.store.statistics()).activities;
      expect(names).toHaveLength(10);
      expect(names[0]).toMatchObject({ name: 'name 11', waiting: 12 });
      expect(names[9]).toMatchObject({ name: 'name 2', waiting: 3 });
    });
  });
}
