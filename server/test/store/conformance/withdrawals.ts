/** Contract cases: withdrawn activities, which nobody gets any more, but whose holders may report. */
import { describe, expect, it } from 'vitest';
import { FAR_FUTURE_MS, type Store } from '../../../src/store/store.js';
import type { ActivityResult, NewActivityRecord } from '../../../src/store/records/activities.js';
import type { InstanceCommit } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { claimOf, activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';

const OK: ActivityResult = { succeeded: true, data: '{"a":1}', hash: 'hash-ok' };
const OTHER: ActivityResult = { succeeded: false, data: '"no"', hash: 'hash-no' };
const NEVER_PURGED = {
  instancesEndedBefore: 0,
  untoldEndedBefore: 0,
  eventsPublishedBefore: 0,
  limit: 10,
};
const ROUNDS = 12;
const CALLERS = 8;

export function describeWithdrawals(test: StoreUnderTest): void {
  const get = async (id: string) => (await test.store.getInstance(id))!;
  const item = async (id: string) => (await test.store.getActivities([id]))[0] ?? null;
  const offer = (id: string, activities: readonly NewActivityRecord[]) =>
    test.store.insertInstance({ record: instanceOf(id), side: { ...NO_SIDE, activities } });
  const claim = (worker: string, now: number, lease = FAR_FUTURE_MS) =>
    claimOf(test.store, { name: 'ship', now, claim: claimBy(worker, lease), deferMs: 1000 });
  const complete = (activityId: string, worker: string, result = OK) =>
    test.store.completeActivity({
      activityId,
      tokenHash: `token-${worker}`,
      result,
      now: 5000,
      message: { id: `result/${activityId}`, body: result.data },
    });
  const withdraw = async (...ids: string[]) =>
    (await test.store.withdrawActivities(ids)).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const commit = async (id: string, changes: Partial<InstanceCommit>) =>
    test.store.commitInstance(commitOf(await get(id), changes));

  describe('withdrawActivities', () => {
    it('returns the items in their new state, done ones too, every time', async () => {
      await offer('i', [
        activityOf('i/1/0', 'i', { createdAt: 1 }),
        activityOf('i/2/0', 'i', { createdAt: 2 }),
        activityOf('i/3/0', 'i', { createdAt: 3 }),
      ]);
      await claim('v', 2000);
      await claim('w', 2000, 9000);
      await complete('i/1/0', 'v');
      const withdrawn = await withdraw('i/1/0', 'i/2/0', 'i/3/0', 'none', 'i/3/0');
      expect(withdrawn).toMatchObject([
        { id: 'i/1/0', done: true, withdrawn: false },
        { id: 'i/2/0', done: false, withdrawn: true, tokenHash: 'token-w', availableAt: 9000 },
        { id: 'i/3/0', done: false, withdrawn: true, tokenHash: null, attempt: 0 },
      ]);
      expect(await withdraw('i/1/0', 'i/2/0', 'i/3/0')).toEqual(withdrawn);
      expect(await test.store.withdrawActivities([])).toEqual([]);
      const stored = await test.store.getActivities(withdrawn.map(({ id }) => id));
      expect(stored.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(withdrawn);
    });

    it('keeps an item from every new holder, also after its lease has ended', async () => {
      await offer('i', [activityOf('i/1/0', 'i'), activityOf('i/2/0', 'i')]);
      await claim('w', 2000, 3000);
      await withdraw('i/1/0', 'i/2/0');
      expect(await claim('v', 9000)).toBeNull();
      expect(await test.store.findAvailableActivities(['ship'], 9000)).toEqual([]);
      expect((await test.store.statistics()).activities).toEqual([]);
      expect(await item('i/2/0')).toMatchObject({ attempt: 0, availableAt: 1000 });
    });

    it('keeps an item from a new holder when a repeated pass offers it again', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await withdraw('i/1/0');
      const again = activityOf('i/1/0', 'i', { claim: claimBy('poller') });
      await commit('i', { side: { ...NO_SIDE, activities: [again] } });
      expect(await item('i/1/0')).toMatchObject({ withdrawn: true, tokenHash: null, attempt: 0 });
      const other = activityOf('i/1/0', 'i', { parameters: '{"other":1}' });
      await commit('i', { side: { ...NO_SIDE, activities: [other] } });
      expect(await claim('v', 2000)).toMatchObject({ id: 'i/1/0', withdrawn: false });
    });

    it('ends a deferral for good', async () => {
      await offer('i', [activityOf('i/1/0', 'i'), activityOf('i/2/0', 'i')]);
      await claim('w', 2000, 3000);
      await test.store.controlInstance('i', 'suspend', 1);
      await claim('v', 4000);
      await withdraw('i/1/0', 'i/2/0');
      // Nobody holds them until the end of the deferral.
      expect(await item('i/1/0')).toMatchObject({ availableAt: 1000 });
      expect(await test.store.listActivityQueues(4000, 9)).toEqual([]);
      expect(await claim('v', 9000)).toBeNull();
      await test.store.controlInstance('i', 'resume', 1);
      expect(await claim('v', 9000)).toBeNull();
      expect(await test.store.listActivityItems('ship', 4000, null, 9)).toEqual([]);
    });

    it('counts an item in the queues only while its lease lasts', async () => {
      await offer('i', [
        activityOf('i/1/0', 'i', { createdAt: 1 }),
        activityOf('i/2/0', 'i', { createdAt: 2 }),
        activityOf('i/3/0', 'i', { createdAt: 3 }),
      ]);
      await claim('w', 2000, 5000);
      await withdraw('i/1/0', 'i/2/0');
      expect(await test.store.listActivityQueues(4999, 9)).toEqual([
        { name: 'ship', waiting: 1, held: 1, oldestCreatedAt: 3 },
      ]);
      const listed = async (now: number) =>
        (await test.store.listActivityItems('ship', now, null, 9)).map(({ id }) => id);
      expect(await listed(4999)).toEqual(['i/3/0', 'i/1/0']);
      expect(await listed(5000)).toEqual(['i/3/0']);
      expect(await test.store.listActivityQueues(5000, 9)).toEqual([
        { name: 'ship', waiting: 1, held: 0, oldestCreatedAt: 3 },
      ]);
    });

    it('lets the holder extend its lease, and reports the withdrawal', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000, 3000);
      await withdraw('i/1/0');
      expect(await test.store.extendActivity('i/1/0', 'token-w', 7000, 2000)).toEqual({
        name: 'ship',
        withdrawn: true,
      });
      expect(await item('i/1/0')).toMatchObject({ availableAt: 7000, withdrawn: true });
      expect(await test.store.extendActivity('i/1/0', 'token-v', 9000, 2000)).toBeNull();
    });

    it('does not let the holder return the item', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000, 3000);
      const [before] = await withdraw('i/1/0');
      expect(await test.store.releaseActivity('i/1/0', 'token-w')).toBeNull();
      expect(await item('i/1/0')).toEqual(before);
    });

    it('lets the holder report until a commit has applied the result', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000, 3000);
      await withdraw('i/1/0');
      const completed = await complete('i/1/0', 'w');
      expect(completed).toMatchObject({ outcome: 'accepted', posted: { inSeq: 1 } });
      const unsettled = async () =>
        (await test.store.findUnsettledActivities(FAR_FUTURE_MS, 9)).map(({ id }) => id);
      expect(await unsettled()).toEqual(['i/1/0']);
      expect(await withdraw('i/1/0')).toMatchObject([{ done: true, withdrawn: false }]);
      await commit('i', { settleActivities: ['i/1/0'] });
      await expect.poll(unsettled).toEqual([]);
      expect(await complete('i/1/0', 'w')).toEqual({ outcome: 'repeated' });
      expect(await complete('i/1/0', 'w', OTHER)).toEqual({ outcome: 'stale' });
    });

    it('lets another caller take over the item to report in place of the holder', async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000, 3000);
      await withdraw('i/1/0');
      const taken = await test.store.takeOverActivity('i/1/0', claimBy('operator', 6000));
      expect(taken).toMatchObject({ tokenHash: 'token-operator', withdrawn: true });
      expect(await complete('i/1/0', 'w')).toEqual({ outcome: 'stale' });
      expect((await complete('i/1/0', 'operator')).outcome).toBe('accepted');
    });
  });

  describe('a withdrawn item that a commit removes', () => {
    it("reports the cancellation to its holder until it's purged", async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000, 3000);
      await withdraw('i/1/0');
      await commit('i', { removeActivities: ['i/1/0'], lastChangeAt: 4000 });
      expect(await item('i/1/0')).toMatchObject({ done: true, withdrawn: true });
      expect(await complete('i/1/0', 'w')).toEqual({ outcome: 'canceled' });
      expect(await complete('i/1/0', 'v')).toEqual({ outcome: 'stale' });
      expect(await test.store.extendActivity('i/1/0', 'token-w', 9000, 2000)).toBeNull();
      expect(await test.store.releaseActivity('i/1/0', 'token-w')).toBeNull();
      expect(await test.store.takeOverActivity('i/1/0', claimBy('v'))).toBeNull();
      expect(await test.store.findUnsettledActivities(FAR_FUTURE_MS, 9)).toEqual([]);
      expect(await test.store.listActivityQueues(2000, 9)).toEqual([]);
      expect((await get('i')).inbox).toEqual([]);
      const purge = (activitiesDoneBefore: number) =>
        test.store.purge({ ...NEVER_PURGED, activitiesDoneBefore });
      expect((await purge(4000)).activities).toBe(0);
      expect((await purge(4001)).activities).toBe(1);
      expect(await complete('i/1/0', 'w')).toEqual({ outcome: 'stale' });
    });

    it.each(['Complete', 'Terminated'] as const)(
      'reports the cancellation after the commit that ends its instance as %s',
      async (status) => {
        await offer('i', [activityOf('i/1/0', 'i'), activityOf('i/2/0', 'i')]);
        await claim('v', 2000);
        await claim('w', 2000);
        await withdraw('i/2/0');
        const end = { status, endTime: 4000, removeActivities: ['i/1/0', 'i/2/0'] };
        await commit('i', end);
        expect(await complete('i/1/0', 'v')).toEqual({ outcome: 'stale' });
        expect(await complete('i/2/0', 'w')).toEqual({ outcome: 'canceled' });
      },
    );

    it('is deleted if no worker has its token', async () => {
      await offer('i', [activityOf('i/1/0', 'i'), activityOf('i/2/0', 'i')]);
      await claim('w', 2000);
      await test.store.releaseActivity('i/1/0', 'token-w');
      await withdraw('i/1/0', 'i/2/0');
      await commit('i', { removeActivities: ['i/1/0', 'i/2/0'] });
      expect(await test.store.getActivities(['i/1/0', 'i/2/0'])).toEqual([]);
      expect(await complete('i/1/0', 'w')).toEqual({ outcome: 'stale' });
    });

    it("remains until it's purged, although it was withdrawn long ago", async () => {
      await offer('i', [activityOf('i/1/0', 'i')]);
      await claim('w', 2000);
      await withdraw('i/1/0');
      const purged = await test.store.purge({ ...NEVER_PURGED, activitiesDoneBefore: 9000 });
      expect(purged.activities).toBe(0);
      expect((await complete('i/1/0', 'w')).outcome).toBe('accepted');
    });
  });

  describe('a withdrawal during other calls', () => {
    const claimAt = (store: Store, worker: string) =>
      claimOf(store, { name: 'ship', now: 2000, claim: claimBy(worker), deferMs: 10 });

    it('includes every earlier claim, and no claim follows it', async () => {
      const other = await test.open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = `i${round}`;
        const ids = Array.from({ length: CALLERS }, (_, n) => `${id}/${n}/0`);
        await offer(
          id,
          ids.map((each) => activityOf(each, id)),
        );
        const claims: ReturnType<typeof claimAt>[] = [];
        const begin = (count: number) => {
          for (let n = 0; n < count; n += 1) {
            claims.push(claimAt(n % 2 === 0 ? test.store : other, `${id}-${claims.length}`));
          }
        };
        begin(round % 4);
        const withdrawing = test.store.withdrawActivities(ids);
        begin(CALLERS);
        const withdrawn = await withdrawing;
        expect(await Promise.all([claimAt(test.store, 'late'), claimAt(other, 'late')])).toEqual([
          null,
          null,
        ]);
        const handedOut = (await Promise.all(claims)).filter((each) => each !== null);
        const holders = new Map(withdrawn.map((each) => [each.id, each.tokenHash]));
        for (const { id: itemId, tokenHash } of handedOut) {
          expect(holders.get(itemId)).toBe(tokenHash);
        }
        const held = withdrawn.filter(({ tokenHash }) => tokenHash !== null);
        expect(held.length).toBe(handedOut.length);
      }
    });

    it('leaves no item deferred when its instance is suspended', async () => {
      const other = await test.open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = `i${round}`;
        const ids = [`${id}/1/0`, `${id}/2/0`];
        await offer(
          id,
          ids.map((each) => activityOf(each, id)),
        );
        await test.store.controlInstance(id, 'suspend', 1);
        await Promise.all([
          claimAt(other, 'a'),
          test.store.withdrawActivities(ids),
          claimAt(test.store, 'b'),
        ]);
        for (const { availableAt, tokenHash, withdrawn } of await test.store.getActivities(ids)) {
          expect({ availableAt, tokenHash, withdrawn }).toEqual({
            availableAt: 1000,
            tokenHash: null,
            withdrawn: true,
          });
        }
      }
    });

    it('lets each item be completed, canceled or removed during two commits, and loses none', async () => {
      const other = await test.open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = `i${round}`;
        const ids = [`${id}/1/0`, `${id}/2/0`];
        await offer(
          id,
          ids.map((each) => activityOf(each, id, { claim: claimBy(each) })),
        );
        const before = await get(id);
        const removal = commitOf(before, { removeActivities: ids });
        const [, committed, ...reports] = await Promise.all([
          other.withdrawActivities(ids.toReversed()),
          test.store.commitInstance(removal),
          complete(ids[0]!, ids[0]!),
          complete(ids[1]!, ids[1]!),
        ]);
        const accepted = reports.filter(({ outcome }) => outcome === 'accepted').length;
        if (accepted > 0) expect(await get(id)).toMatchObject({ inSeq: accepted });
        const left = await test.store.getActivities(ids);
        if (committed === 'committed') expect(left.filter(({ done }) => !done)).toEqual([]);
        else expect(accepted).toBeGreaterThan(0);
      }
    });
  });
}
