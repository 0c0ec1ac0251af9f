/** Contract cases: the audit record of an instance, and work that is taken over from its worker. */
import { describe, expect, it } from 'vitest';
import { AUDIT_ENTRIES_MAX, type AuditEntry } from '../../../src/store/records/control.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';

const CALLERS = 8;

function entryOf(detail: string | null, changes: Partial<AuditEntry> = {}): AuditEntry {
  return { time: 1, actor: 'ada', action: 'retry', detail, ...changes };
}

export function describeAudit(test: StoreUnderTest): void {
  const insert = (id = 'i', side = NO_SIDE) =>
    test.store.insertInstance({ record: instanceOf(id), side });
  const details = async (id = 'i') => (await test.store.listAudit(id))?.map(({ detail }) => detail);

  describe('the audit log of an instance', () => {
    it('contains control actions and messages that took effect, newest first', async () => {
      await insert();
      const suspend = entryOf(null, { action: 'suspend', time: 5 });
      await test.store.controlInstance('i', 'suspend', 5, suspend);
      await test.store.controlInstance('i', 'suspend', 6, entryOf('refused'));
      const message = { id: 'm', body: '' };
      const posted = { instanceId: 'i', message, audit: entryOf('posted \ud800') };
      await test.store.postMessages([posted]);
      await test.store.postMessages([posted]);
      expect(await test.store.listAudit('i')).toEqual([entryOf('posted \ud800'), suspend]);
    });

    it('survives commits and the end of the instance, and is purged with it', async () => {
      await insert();
      expect(await test.store.appendAudit('i', entryOf('one'))).toBe(true);
      const end = { status: 'Complete', endTime: 5 } as const;
      await test.store.commitInstance(commitOf(instanceOf('i'), end));
      expect(await test.store.appendAudit('i', entryOf('two'))).toBe(true);
      expect(await details()).toEqual(['two', 'one']);
      const purged = {
        instancesEndedBefore: 9,
        untoldEndedBefore: 0,
        eventsPublishedBefore: 0,
        activitiesDoneBefore: 0,
      };
      await test.store.purge({ ...purged, limit: 5 });
      expect(await test.store.listAudit('i')).toBeNull();
      await insert();
      expect(await details()).toEqual([]);
    });

    it('contains a restart, together with the newest link to it', async () => {
      await test.store.insertInstance({
        record: instanceOf('i', { restartOf: 'first', status: 'Complete', endTime: 5 }),
        side: NO_SIDE,
      });
      expect((await test.store.getInstance('i'))?.restartOf).toBe('first');
      const entry = entryOf('restarted', { action: 'restart' });
      expect(await test.store.linkRestart('i', 'second', entry)).toBe(true);
      expect(await test.store.linkRestart('i', 'third \ud800', entry)).toBe(true);
      expect(await test.store.linkRestart('unknown', 'second', entry)).toBe(false);
      const linked = { restartOf: 'first', restartedAs: 'third \ud800', inSeq: 2 };
      expect(await test.store.getInstance('i')).toMatchObject(linked);
      const { items } = await test.store.listInstances({ filter: {}, after: null, limit: 2 });
      expect(items).toMatchObject([linked]);
      expect(await test.store.listAudit('i')).toEqual([entry, entry]);
    });

    it('is part of the commit of a repair, which may change the version', async () => {
      await insert();
      const record = (await test.store.getInstance('i'))!;
      const entries = ['first', 'second \ud800'].map(
        (detail) => ({ time: 5, actor: 'ada', action: 'modify', detail }) as const,
      );
      const repaired = commitOf(record, { version: 7, audit: entries });
      expect(await test.store.commitInstance({ ...repaired, revision: 9 })).toBe('lost');
      expect(await test.store.listAudit('i')).toEqual([]);
      expect(await test.store.commitInstance(repaired)).toBe('committed');
      expect(await test.store.listAudit('i')).toEqual(entries.toReversed());
      const after = (await test.store.getInstance('i'))!;
      expect(after.version).toBe(7);
      expect(await test.store.commitInstance(commitOf(after))).toBe('committed');
      expect((await test.store.getInstance('i'))?.version).toBe(7);
      expect(await test.store.listAudit('i')).toHaveLength(2);
    });

    it('keeps the link to a restart when the instance is committed', async () => {
      await insert();
      await test.store.linkRestart('i', 'second', entryOf(null, { action: 'restart' }));
      const record = (await test.store.getInstance('i'))!;
      expect(await test.store.commitInstance(commitOf(record))).toBe('committed');
      expect((await test.store.getInstance('i'))?.restartedAs).toBe('second');
    });

    it('is missing for an unknown instance', async () => {
      expect(await test.store.appendAudit('x', entryOf(null))).toBe(false);
      expect(await test.store.listAudit('x')).toBeNull();
    });

    it('keeps only the newest entries', async () => {
      await insert();
      const count = AUDIT_ENTRIES_MAX + 3;
      for (let n = 1; n <= count; n += 1) await test.store.appendAudit('i', entryOf(`${n}`));
      const kept = (await details()) ?? [];
      expect(kept).toHaveLength(AUDIT_ENTRIES_MAX);
      expect([kept[0], kept.at(-1)]).toEqual([`${count}`, '4']);
    });

    it("isn't part of the instance record", async () => {
      await insert();
      await test.store.appendAudit('i', entryOf('one'));
      expect(await test.store.getInstance('i')).toEqual(instanceOf('i'));
      const claim = { id: 'i', epoch: 1, owner: 'n', suspected: false };
      const claimed = await test.store.claimInstance(claim);
      expect(claimed).toEqual(instanceOf('i', { owner: 'n', epoch: 2 }));
    });
  });

  describe('takeOverActivity', () => {
    const complete = (worker: string, store = test.store) =>
      store.completeActivity({
        activityId: 'i/1',
        tokenHash: `token-${worker}`,
        result: { succeeded: true, data: `"${worker}"`, hash: worker },
        now: 3000,
        message: { id: 'result', body: worker },
        audit: entryOf(worker, { action: 'complete-activity' }),
      });

    it('makes the token of the previous holder stale', async () => {
      await insert('i', {
        ...NO_SIDE,
        activities: [activityOf('i/1', 'i', { claim: claimBy('w') })],
      });
      const taken = await test.store.takeOverActivity('i/1', claimBy('ada', 9000));
      expect(taken).toMatchObject({
        id: 'i/1',
        tokenHash: 'token-ada',
        workerId: 'ada',
        availableAt: 9000,
        attempt: 2,
      });
      expect(await complete('w')).toEqual({ outcome: 'stale' });
      expect(await complete('ada')).toMatchObject({ outcome: 'accepted' });
      expect(await details()).toEqual(['ada']);
      expect(await test.store.takeOverActivity('i/1', claimBy('bob'))).toBeNull();
      expect(await test.store.takeOverActivity('i/2', claimBy('bob'))).toBeNull();
    });

    it('accepts one result if a take-over and the worker race', async () => {
      await insert('i', {
        ...NO_SIDE,
        activities: [activityOf('i/1', 'i', { claim: claimBy('w') })],
      });
      const other = await test.open();
      const outcomes = await Promise.all(
        Array.from({ length: CALLERS }, async (_, caller) => {
          const store = caller % 2 === 0 ? test.store : other;
          if (caller === 3) return complete('w', store);
          const taken = await store.takeOverActivity('i/1', claimBy(`c${caller}`, 9000));
          return taken === null ? { outcome: 'stale' } : complete(`c${caller}`, store);
        }),
      );
      expect(outcomes.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1);
      expect((await test.store.getInstance('i'))!.inbox).toHaveLength(1);
      expect(await details()).toHaveLength(1);
    });
  });
}
