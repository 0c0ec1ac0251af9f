/** Contract cases: concurrent callers want the same thing, through two store objects on the same data. */
import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.js';
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

const CALLERS = 16;

export function describeConcurrency(test: StoreUnderTest): void {
  /** Runs the calls of all callers concurrently, half of them through another store object. */
  async function race<Result>(call: (store: Store, caller: number) => Promise<Result>) {
    const other = await test.open();
    return Promise.all(
      Array.from({ length: CALLERS }, (_, caller) =>
        call(caller % 2 === 0 ? test.store : other, caller),
      ),
    );
  }
  const insert = (id: string, side = NO_SIDE) =>
    test.store.insertInstance({ record: instanceOf(id), side });
  const get = async (id: string) => (await test.store.getInstance(id))!;

  describe(`a store with ${CALLERS} concurrent callers`, () => {
    it('accepts exactly one commit', async () => {
      await insert('i');
      const before = await get('i');
      const outcomes = await race((store, caller) =>
        store.commitInstance(commitOf(before, { state: `by ${caller}` })),
      );
      expect(outcomes.filter((outcome) => outcome === 'committed')).toHaveLength(1);
      expect(await get('i')).toMatchObject({
        revision: before.revision + 1,
        state: `by ${outcomes.indexOf('committed')}`,
      });
    });

    it('grants exactly one claim of an instance', async () => {
      await insert('i');
      const claims = await race((store, caller) =>
        store.claimInstance({ id: 'i', epoch: 1, owner: `node ${caller}`, suspected: true }),
      );
      const winners = claims.filter((claim) => claim !== null);
      expect(winners).toHaveLength(1);
      expect(await get('i')).toMatchObject({ owner: winners[0]!.owner, epoch: 2, crashes: 1 });
    });

    it('lets no commit overwrite a claim', async () => {
      await insert('i');
      const results = await race<unknown>((store, caller) =>
        caller === 0
          ? store.claimInstance({ id: 'i', epoch: 1, owner: 'thief', suspected: false })
          : store.commitInstance(commitOf(instanceOf('i'), { state: `by ${caller}` })),
      );
      const committed = results.filter((result) => result === 'committed').length;
      expect(await get('i')).toMatchObject({ owner: 'thief', epoch: 2, revision: 1 + committed });
      expect(await test.store.commitInstance(commitOf(instanceOf('i')))).toBe('lost');
    });

    it('loses no message and never commits over one', async () => {
      await insert('i');
      const before = await get('i');
      const results = await race<unknown>((store, caller) =>
        caller === 7
          ? store.commitInstance(commitOf(before, { state: 'committed' }))
          : store.postMessages([
              { instanceId: 'i', message: { id: `m${caller}`, body: `${caller}` } },
            ]),
      );
      const after = await get('i');
      // The commit came first, or it lost: in both cases every message is still there.
      expect(after.inbox).toHaveLength(CALLERS - 1);
      expect(after.inSeq).toBe(CALLERS - 1);
      expect(after.state).toBe(results[7] === 'committed' ? 'committed' : '{}');
    });

    it('posts the same message once', async () => {
      await insert('i');
      await race((store) =>
        store.postMessages([{ instanceId: 'i', message: { id: 'same', body: '' } }]),
      );
      expect(await get('i')).toMatchObject({ inSeq: 1, inbox: [{ id: 'same' }] });
    });

    it('inserts one instance', async () => {
      const results = await race((store, caller) =>
        store.insertInstance({
          record: instanceOf('i', { state: `by ${caller}` }),
          side: { ...NO_SIDE, activities: [activityOf('i/1/0', 'i')] },
        }),
      );
      expect(results.filter(({ outcome }) => outcome === 'inserted')).toHaveLength(1);
      const { state } = await get('i');
      for (const result of results) {
        if (result.outcome === 'exists') expect(result.record.state).toBe(state);
      }
      expect((await test.store.statistics()).activities[0]?.waiting).toBe(1);
    });

    it('numbers definition versions consecutively', async () => {
      const results = await race((store, caller) =>
        store.insertDefinition(
          { id: 'd', description: null, body: `${caller}`, createdAt: 1 },
          null,
        ),
      );
      const versions = results.map((result) => 'record' in result && result.record.version);
      expect(versions.toSorted((a, b) => Number(a) - Number(b))).toEqual(
        Array.from({ length: CALLERS }, (_, n) => n + 1),
      );
      for (const result of results) {
        if (!('record' in result)) throw new Error('the claim returned no record');
        const stored = await test.store.getDefinition('d', result.record.version);
        expect(stored).toEqual({ ...result.record, disabled: false });
      }
    });

    it('numbers script versions consecutively', async () => {
      const results = await race((store, caller) =>
        store.insertStepScript({ name: 's', source: `${caller}`, createdAt: 1 }),
      );
      expect(new Set(results.map(({ version }) => version)).size).toBe(CALLERS);
      expect((await test.store.getStepScript('s', 'latest'))?.version).toBe(CALLERS);
    });

    it('stores one definition for one idempotency stamp', async () => {
      const results = await race((store, caller) =>
        store.insertDefinition(
          { id: 'd', description: null, body: caller < 12 ? 'same' : `${caller}`, createdAt: 1 },
          caller < 12 ? { id: 'stamp', requestHash: 'hash' } : null,
        ),
      );
      const stamped = results.slice(0, 12);
      expect(stamped.filter(({ outcome }) => outcome === 'inserted')).toHaveLength(1);
      expect(stamped.filter(({ outcome }) => outcome === 'repeated')).toHaveLength(11);
      const versions = new Set(
        stamped.map((result) => 'record' in result && result.record.version),
      );
      expect(versions.size).toBe(1);
      expect((await test.store.getDefinition('d', 'latest'))?.version).toBe(5);
    });

    it('reports a conflict if different requests share a stamp', async () => {
      const results = await race((store, caller) =>
        store.insertDefinition(
          { id: 'd', description: null, body: `${caller % 4}`, createdAt: 1 },
          { id: 'stamp', requestHash: `hash ${caller % 4}` },
        ),
      );
      const winner = results.findIndex(({ outcome }) => outcome === 'inserted');
      results.forEach(({ outcome }, caller) => {
        const expected = caller === winner ? 'inserted' : 'repeated';
        expect(outcome).toBe(caller % 4 === winner % 4 ? expected : 'conflict');
      });
      expect((await test.store.getDefinition('d', 'latest'))?.version).toBe(1);
    });

    it('hands out every item exactly once', async () => {
      const activities = Array.from({ length: CALLERS - 4 }, (_, n) => activityOf(`i/${n}/0`, 'i'));
      await insert('i', { ...NO_SIDE, activities });
      const claims = await race((store, caller) =>
        claimOf(store, { name: 'ship', now: 2000, claim: claimBy(`${caller}`), deferMs: 10 }),
      );
      const handedOut = claims.filter((claim) => claim !== null);
      expect(handedOut).toHaveLength(activities.length);
      expect(new Set(handedOut.map(({ id }) => id)).size).toBe(activities.length);
      claims.forEach((claim, caller) => {
        if (claim !== null) expect(claim.tokenHash).toBe(`token-${caller}`);
      });
    });

    it('hands out no item of an instance that was already suspended', async () => {
      const activities = Array.from({ length: CALLERS }, (_, n) => activityOf(`i/${n}/0`, 'i'));
      await insert('i', { ...NO_SIDE, activities });
      let isSuspended = false;
      const lateClaims: unknown[] = [];
      await race(async (store, caller) => {
        if (caller === 3) {
          await store.controlInstance('i', 'suspend', 1);
          isSuspended = true;
        }
        const wasSuspended = isSuspended;
        const claim = claimBy(`${caller}`);
        const item = await claimOf(store, { name: 'ship', now: 2000, claim, deferMs: 10 });
        if (wasSuspended) lateClaims.push(item);
      });
      expect(lateClaims.length).toBeGreaterThan(0);
      expect(lateClaims.every((item) => item === null)).toBe(true);
      // Skipped items are available again after a resume, and nothing was handed out twice.
      await test.store.controlInstance('i', 'resume', 1);
      const attempts: number[] = [];
      for (;;) {
        const claim = claimBy('late');
        const item = await claimOf(test.store, {
          name: 'ship',
          now: 2000,
          claim,
          deferMs: 10,
        });
        if (item === null) break;
        attempts.push(item.attempt);
      }
      expect(attempts.every((attempt) => attempt === 1)).toBe(true);
    });

    it('completes an item once', async () => {
      await insert('i', { ...NO_SIDE, activities: [activityOf('i/1/0', 'i')] });
      await claimOf(test.store, { name: 'ship', now: 2000, claim: claimBy('w'), deferMs: 10 });
      const results = await race((store, caller) =>
        store.completeActivity({
          activityId: 'i/1/0',
          tokenHash: 'token-w',
          result: { succeeded: true, data: `${caller % 2}`, hash: `hash ${caller % 2}` },
          now: 3000,
          message: { id: 'result/i/1/0', body: `${caller % 2}` },
        }),
      );
      const winner = results.findIndex(({ outcome }) => outcome === 'accepted');
      results.forEach(({ outcome }, caller) => {
        const expected = caller === winner ? 'accepted' : 'repeated';
        expect(outcome).toBe(caller % 2 === winner % 2 ? expected : 'stale');
      });
      expect(await get('i')).toMatchObject({ inSeq: 1, inbox: [{ body: `${winner % 2}` }] });
    });

    it('returns the values right after its own message for each completed item', async () => {
      const ids = Array.from({ length: 2 * CALLERS }, (_unused, index) => `i/${index}/0`);
      await insert('i', { ...NO_SIDE, activities: ids.map((id) => activityOf(id, 'i')) });
      const claims = ids.map((id) =>
        test.store.takeOverActivity(id, { ...claimBy(id), leaseExpiresAt: 9000 }),
      );
      await Promise.all(claims);
      const complete = (store: Store, id: string) =>
        store.completeActivity({
          activityId: id,
          tokenHash: claimBy(id).tokenHash,
          result: { succeeded: true, data: '1', hash: 'hash' },
          now: 3000,
          message: { id: `result/${id}`, body: '1' },
        });
      const results = await race((store, caller) =>
        Promise.all([0, 1].map((each) => complete(store, ids[2 * caller + each]!))),
      );
      const record = await get('i');
      const inboxIds = record.inbox.map(({ id }) => id);
      expect(record.inSeq).toBe(ids.length);
      for (const result of results.flat()) {
        if (result.outcome !== 'accepted') expect.fail(result.outcome);
        expect(result.posted?.inSeq).toBe(inboxIds.indexOf(result.message.id) + 1);
      }
    });

    it('inserts one event', async () => {
      const results = await race((store, caller) =>
        store.insertEvent(eventOf('e', { data: `${caller}` })),
      );
      expect(results.filter(({ outcome }) => outcome === 'inserted')).toHaveLength(1);
      const known = results.flatMap((each) => (each.outcome === 'exists' ? [each.event.data] : []));
      expect(new Set(known).size).toBe(1);
    });

    it('requests the compensation of an instance once', async () => {
      await insert('i');
      const message = { id: 'told', body: '{}' };
      const results = await race((store) =>
        store.controlInstance('i', 'compensate', 1, undefined, message),
      );
      expect(results.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
      expect(await get('i')).toMatchObject({ status: 'Runnable', inSeq: 1, inbox: [message] });
    });

    it('suspends an instance once', async () => {
      await insert('i');
      const results = await race((store) => store.controlInstance('i', 'suspend', 1));
      expect(results.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
      expect(await get('i')).toMatchObject({ status: 'Suspended', inSeq: 1 });
    });
  });
}
