/** Contract cases: instances, their compare-and-set, messages, control and lists. */
import { describe, expect, it } from 'vitest';
import type {
  InstanceFilter,
  InstancePosition,
} from '../../../src/store/records/instance-lists.js';
import type { InstanceRecord, InstanceStatus } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE } from '../records.js';

const NOBODY = { owner: null, epoch: 1 };

export function describeInstances(test: StoreUnderTest): void {
  const insert = (...args: Parameters<typeof instanceOf>) =>
    test.store.insertInstance({ record: instanceOf(...args), side: NO_SIDE });
  const get = async (id: string) => (await test.store.getInstance(id))!;
  const post = async (instanceId: string, ...ids: string[]) =>
    test.store.postMessages(ids.map((id) => ({ instanceId, message: { id, body: `body ${id}` } })));

  describe('insertInstance', () => {
    it('keeps every field', async () => {
      const record = instanceOf('i', {
        reference: 'order 7',
        lastChangeAt: 1234,
        errorAt: 1200,
        wakeAt: 77,
        owner: 'node',
        epoch: 3,
        inSeq: 2,
        inbox: [
          { id: 'z', body: '1' },
          { id: 'a', body: '2' },
        ],
        revision: 9,
        underWay: true,
        crashes: 4,
        state: '{"a":1}',
        schemaVersion: 2,
        requestHash: 'hash',
      });
      expect(await test.store.insertInstance({ record, side: NO_SIDE })).toEqual({
        outcome: 'inserted',
      });
      expect(await test.store.getInstance('i')).toEqual(record);
      expect(await test.store.getInstance('I')).toBeNull();
    });

    it('answers the record that is there, and changes nothing', async () => {
      await insert('i', { state: 'first', requestHash: 'hash' });
      const again = await insert('i', { state: 'second' });
      expect(again).toEqual({
        outcome: 'exists',
        record: instanceOf('i', { state: 'first', requestHash: 'hash' }),
      });
      expect((await get('i')).state).toBe('first');
    });
  });

  describe('commitInstance', () => {
    it('writes the new values, empties the inbox and raises the revision', async () => {
      await insert('i', { owner: 'node', crashes: 3, revision: 5, startTime: 9 });
      await post('i', 'm1', 'm2');
      const outcome = await test.store.commitInstance(
        commitOf(await get('i'), {
          status: 'Complete',
          endTime: 50,
          outcome: 'Compensated',
          lastChangeAt: 51,
          errorAt: 49,
          wakeAt: 60,
          underWay: true,
          state: 'new',
          schemaVersion: 2,
        }),
      );
      expect(outcome).toBe('committed');
      expect(await get('i')).toEqual(
        instanceOf('i', {
          status: 'Complete',
          startTime: 9,
          endTime: 50,
          outcome: 'Compensated',
          lastChangeAt: 51,
          errorAt: 49,
          wakeAt: 60,
          underWay: true,
          owner: 'node',
          inSeq: 2,
          revision: 6,
          state: 'new',
          schemaVersion: 2,
        }),
      );
    });

    it('keeps the count of crashes, and the inbox, only when asked to', async () => {
      await insert('i', { crashes: 3, underWay: true });
      await post('i', 'm');
      await test.store.commitInstance(commitOf(await get('i'), { crashes: 2, keepInbox: true }));
      expect(await get('i')).toMatchObject({ crashes: 2, underWay: false, inbox: [{ id: 'm' }] });
      await test.store.commitInstance(commitOf(await get('i')));
      expect(await get('i')).toMatchObject({ crashes: 0, inbox: [] });
    });

    it('leaves the owner as it is', async () => {
      await insert('i', { owner: 'node' });
      await test.store.commitInstance(commitOf(await get('i')));
      expect((await get('i')).owner).toBe('node');
    });

    it.each([
      ['an old epoch', { epoch: 0 }],
      ['a newer epoch', { epoch: 2 }],
      ['an old inSeq', { inSeq: 0 }],
      ['an unknown id', { id: 'x' }],
      ['an old revision', { revision: 0 }],
    ])('with %s changes nothing', async (_title, wrong) => {
      await insert('i');
      await post('i', 'm');
      const before = await get('i');
      const commit = commitOf(before, { state: 'lost', wakeAt: 5, ...wrong });
      expect(await test.store.commitInstance(commit)).toBe('lost');
      expect(await get('i')).toEqual(before);
    });
  });

  describe('claimInstance', () => {
    const claim = (id: string, epoch: number, suspected = false) =>
      test.store.claimInstance({ id, epoch, owner: 'thief', suspected });

    it('leaves an instance to its owner that is of a later format than the claimer knows', async () => {
      await insert('i', { owner: 'node', schemaVersion: 3 });
      const before = await get('i');
      const claimAs = (schemaVersionMax: number) =>
        test.store.claimInstance({
          id: 'i',
          epoch: 1,
          owner: 'thief',
          suspected: true,
          schemaVersionMax,
        });
      expect(await claimAs(2)).toBeNull();
      expect(await get('i')).toEqual(before);
      expect(await claimAs(3)).toMatchObject({ owner: 'thief', epoch: 2, schemaVersion: 3 });
    });

    it('sets the owner, raises the epoch and answers the whole record', async () => {
      await insert('i', { owner: 'node', epoch: 4, wakeAt: 3, state: 'kept' });
      await post('i', 'm');
      const claimed = await claim('i', 4);
      expect(claimed).toEqual(
        instanceOf('i', {
          owner: 'thief',
          epoch: 5,
          inSeq: 1,
          inbox: [{ id: 'm', body: 'body m' }],
          wakeAt: 0,
          state: 'kept',
        }),
      );
      expect(await get('i')).toEqual(claimed);
    });

    it('fences the one who had it before', async () => {
      await insert('i', { owner: 'node' });
      const before = await get('i');
      await claim('i', 1);
      expect(await test.store.commitInstance(commitOf(before))).toBe('lost');
      expect(await claim('i', 1)).toBeNull();
      expect(await claim('x', 1)).toBeNull();
    });

    it('can make it due, so that it is found again', async () => {
      await insert('i', { wakeAt: 500 });
      await insert('j', { wakeAt: null });
      const claimDue = (id: string, due: boolean) =>
        test.store.claimInstance({ id, epoch: 1, owner: 'thief', suspected: false, due });
      expect((await claimDue('i', false))?.wakeAt).toBe(500);
      expect((await claimDue('j', true))?.wakeAt).toBe(0);
      expect((await test.store.findDueInstances(1, 5)).map(({ id }) => id)).toEqual(['j']);
    });

    it('counts crashes of dead nodes until a commit', async () => {
      await insert('i');
      expect((await claim('i', 1, true))?.crashes).toBe(1);
      expect((await claim('i', 2, true))?.crashes).toBe(2);
      expect((await claim('i', 3))?.crashes).toBe(2);
      await test.store.commitInstance(commitOf(await get('i')));
      expect((await get('i')).crashes).toBe(0);
    });
  });

  describe('setCrashes', () => {
    it('sets the count while nobody has claimed the instance since', async () => {
      await insert('i', { epoch: 4, crashes: 2 });
      expect(await test.store.setCrashes('i', 4, 1)).toBe(true);
      expect(await get('i')).toEqual(instanceOf('i', { epoch: 4, crashes: 1 }));
      expect(await test.store.setCrashes('i', 3, 9)).toBe(false);
      expect(await test.store.setCrashes('x', 1, 9)).toBe(false);
      expect((await get('i')).crashes).toBe(1);
    });
  });

  describe('due instances', () => {
    it('are found by wakeAt, earliest first, whatever their status', async () => {
      await insert('late', { wakeAt: 300 });
      await insert('b', { wakeAt: 100, owner: 'node', epoch: 7, schemaVersion: 9 });
      await insert('a', { wakeAt: 100, status: 'Terminated', endTime: 1 });
      await insert('now', { wakeAt: 0, status: 'Suspended' });
      await insert('never');
      const { schemaVersion } = await get('now');
      const claim = {
        owner: null,
        epoch: 1,
        underWay: false,
        crashes: 0,
        lastChangeAt: 1000,
        schemaVersion,
      };
      expect(await test.store.findDueInstances(100, 10)).toEqual([
        { id: 'now', wakeAt: 0, ...claim },
        { id: 'a', wakeAt: 100, ...claim },
        { id: 'b', wakeAt: 100, ...claim, owner: 'node', epoch: 7, schemaVersion: 9 },
      ]);
      expect((await test.store.findDueInstances(1000, 2)).map(({ id }) => id)).toEqual([
        'now',
        'a',
      ]);
    });

    it('are found page by page', async () => {
      for (const [id, wakeAt] of Object.entries({ d: 7, a: 5, c: 5, b: 5, e: 9 })) {
        await insert(id, { wakeAt });
      }
      const page = async (after?: { readonly wakeAt: number; readonly id: string }) =>
        (await test.store.findDueInstances(8, 2, after)).map(({ id }) => id);
      expect(await page()).toEqual(['a', 'b']);
      expect(await page({ wakeAt: 5, id: 'b' })).toEqual(['c', 'd']);
      expect(await page({ wakeAt: 7, id: 'd' })).toEqual([]);
    });
  });

  describe('what a dead node leaves', () => {
    it('is found by owner where something is under way', async () => {
      await insert('b', { owner: 'one', underWay: true, epoch: 3, crashes: 2, wakeAt: 9 });
      await insert('a', { owner: 'one', underWay: true, lastChangeAt: 5 });
      await insert('c', { owner: 'two', underWay: true });
      await insert('d', { owner: 'one', wakeAt: 5 });
      const ids = async (...args: Parameters<typeof test.store.findInstancesUnderWay>) =>
        (await test.store.findInstancesUnderWay(...args)).map(({ id }) => id);
      const [first, second] = await test.store.findInstancesUnderWay('one', null, 10);
      const { schemaVersion } = await get('a');
      const claim = { owner: 'one', underWay: true, schemaVersion };
      expect(first).toEqual({
        ...claim,
        id: 'a',
        epoch: 1,
        wakeAt: null,
        crashes: 0,
        lastChangeAt: 5,
      });
      expect(second).toEqual({
        ...claim,
        id: 'b',
        epoch: 3,
        wakeAt: 9,
        crashes: 2,
        lastChangeAt: 1000,
      });
      expect(await ids('one', null, 1)).toEqual(['a']);
      expect(await ids('one', 'a', 10)).toEqual(['b']);
      expect(await ids('three', null, 10)).toEqual([]);
    });

    it('is found by owner where it changed late, while it is Runnable', async () => {
      await insert('a', { owner: 'one', lastChangeAt: 7 });
      await insert('b', { owner: 'one', lastChangeAt: 5 });
      await insert('c', { owner: 'two', lastChangeAt: 6 });
      await insert('d', { owner: 'one', lastChangeAt: 6, status: 'Suspended' });
      await insert('e', { owner: 'one', lastChangeAt: 6, status: 'Complete', endTime: 6 });
      await insert('f', { owner: 'one', lastChangeAt: 4 });
      await insert('g', { owner: 'one', lastChangeAt: 5, wakeAt: 3 });
      const ids = async (time: number, id = '', limit = 10) =>
        (await test.store.findChangedInstances('one', { time, id }, limit)).map((i) => i.id);
      expect(await ids(5)).toEqual(['b', 'g', 'a']);
      expect(await ids(5, '', 2)).toEqual(['b', 'g']);
      expect(await ids(5, 'b')).toEqual(['g', 'a']);
      expect(await ids(8)).toEqual([]);
      await test.store.commitInstance(commitOf(await get('f'), { lastChangeAt: 9 }));
      expect(await ids(8)).toEqual(['f']);
    });
  });

  describe('postMessages', () => {
    it('appends in order, raises inSeq and wakes, for each message', async () => {
      await insert('i', { owner: 'node', wakeAt: 500 });
      await insert('j', { status: 'Suspended' });
      const posted = await test.store.postMessages([
        { instanceId: 'i', message: { id: 'z', body: '1' } },
        { instanceId: 'j', message: { id: 'z', body: '2' } },
        { instanceId: 'i', message: { id: 'a', body: '3' } },
      ]);
      expect(posted.map((entry) => entry?.instanceId)).toEqual(['i', 'j', 'i']);
      expect(posted[2]).toEqual({ instanceId: 'i', inSeq: 2, epoch: 1, owner: 'node' });
      const instance = await get('i');
      expect(instance.inbox).toEqual([
        { id: 'z', body: '1' },
        { id: 'a', body: '3' },
      ]);
      expect(instance).toMatchObject({ inSeq: 2, wakeAt: 0 });
      expect(await get('j')).toMatchObject({ inSeq: 1, wakeAt: 0, status: 'Suspended' });
    });

    it('counts a message that is in the inbox as posted, and changes nothing', async () => {
      await insert('i', { wakeAt: 500 });
      await post('i', 'm');
      const before = await get('i');
      expect(await post('i', 'm')).toEqual([{ instanceId: 'i', inSeq: 1, ...NOBODY }]);
      expect(
        await test.store.postMessages([{ instanceId: 'i', message: { id: 'm', body: 'x' } }]),
      ).toEqual([{ instanceId: 'i', inSeq: 1, ...NOBODY }]);
      expect(await get('i')).toEqual(before);
    });

    it('adds the same id once even inside of one call', async () => {
      await insert('i');
      await post('i', 'm', 'm', 'n');
      expect(await get('i')).toMatchObject({ inSeq: 2, inbox: [{ id: 'm' }, { id: 'n' }] });
    });

    it('answers null where the instance has ended or is not there', async () => {
      await insert('done', { status: 'Complete', endTime: 5 });
      await insert('killed', { status: 'Terminated', endTime: 5 });
      await insert('i');
      const posted = await test.store.postMessages(
        ['done', 'x', 'i', 'killed'].map((instanceId) => ({
          instanceId,
          message: { id: 'm', body: '' },
        })),
      );
      expect(posted).toEqual([null, null, { instanceId: 'i', inSeq: 1, ...NOBODY }, null]);
      expect(await get('done')).toMatchObject({ inbox: [], inSeq: 0, wakeAt: null });
    });

    it('makes a commit that has not seen the message lose', async () => {
      await insert('i');
      const before = await get('i');
      await post('i', 'm');
      expect(await test.store.commitInstance(commitOf(before))).toBe('lost');
      expect(await test.store.commitInstance(commitOf(await get('i')))).toBe('committed');
      expect(await get('i')).toMatchObject({ inbox: [], inSeq: 1 });
    });

    it('takes no messages at all', async () => {
      expect(await test.store.postMessages([])).toEqual([]);
    });
  });

  describe('controlInstance', () => {
    it.each([
      ['suspend', 'Runnable', 'Suspended', null],
      ['resume', 'Suspended', 'Runnable', null],
      ['terminate', 'Runnable', 'Terminated', 99],
      ['terminate', 'Suspended', 'Terminated', 99],
      ['compensate', 'Runnable', 'Runnable', null],
      ['compensate', 'Suspended', 'Runnable', null],
    ] as const)('%s makes %s %s', async (action, from, to, endTime) => {
      await insert('i', { status: from, owner: 'node', wakeAt: 500, inSeq: 4, state: 'kept' });
      const result = await test.store.controlInstance('i', action, 99);
      const expected = instanceOf('i', {
        status: to,
        owner: 'node',
        wakeAt: 0,
        inSeq: 5,
        endTime,
        state: 'kept',
        outcome: to === 'Terminated' ? 'Terminated' : null,
        lastChangeAt: 99,
      });
      expect(result).toEqual({ outcome: 'done', record: expected });
      expect(await get('i')).toEqual(expected);
    });

    it.each([
      ['suspend', 'Suspended'],
      ['suspend', 'Complete'],
      ['resume', 'Runnable'],
      ['resume', 'Terminated'],
      ['terminate', 'Complete'],
      ['terminate', 'Terminated'],
      ['compensate', 'Complete'],
      ['compensate', 'Terminated'],
    ] as const)('refuses %s when %s, and changes nothing', async (action, status) => {
      const outcome = { Complete: 'Succeeded', Terminated: 'Failed' } as const;
      const ended = isOver(status) ? { outcome: outcome[status] } : {};
      const record = instanceOf('i', { status, endTime: 7, ...ended });
      await test.store.insertInstance({ record, side: NO_SIDE });
      expect(await test.store.controlInstance('i', action, 99)).toEqual({
        outcome: 'refused',
        record,
      });
      expect(await get('i')).toEqual(record);
    });

    it('adds its message to the inbox, and is refused while that is there', async () => {
      await insert('i', { status: 'Suspended' });
      await post('i', 'before');
      const audit = { time: 5, actor: 'ada', action: 'terminate', detail: null } as const;
      const message = { id: 'told', body: '{"kind":"clean-up"}' };
      const compensate = () => test.store.controlInstance('i', 'compensate', 9, audit, message);
      const done = await compensate();
      const record = await get('i');
      expect(done).toEqual({ outcome: 'done', record });
      expect(record.inbox.map(({ id }) => id)).toEqual(['before', 'told']);
      expect(record.inbox[1]).toEqual(message);
      expect(record).toMatchObject({ status: 'Runnable', inSeq: 2, wakeAt: 0 });

      await test.store.controlInstance('i', 'suspend', 10);
      const suspended = await get('i');
      expect(await compensate()).toEqual({ outcome: 'refused', record: suspended });
      expect(await get('i')).toEqual(suspended);
      expect(await test.store.listAudit('i')).toEqual([audit]);
    });

    it('answers missing for an unknown instance', async () => {
      expect(await test.store.controlInstance('x', 'suspend', 1)).toEqual({ outcome: 'missing' });
    });

    it('keeps the inbox, and makes a commit that has not seen it lose', async () => {
      await insert('i');
      await post('i', 'm');
      const before = await get('i');
      await test.store.controlInstance('i', 'suspend', 1);
      expect(await test.store.commitInstance(commitOf(before))).toBe('lost');
      expect((await get('i')).inbox).toHaveLength(1);
    });
  });

  describe('listInstances', () => {
    const list = async (
      filter: InstanceFilter,
      after: InstancePosition | null = null,
      limit = 50,
    ) => (await test.store.listInstances({ filter, after, limit })).map(({ id }) => id);

    it('answers summaries, without state and inbox', async () => {
      await insert('i', { reference: 'r', owner: 'node', requestHash: 'h' });
      const [summary] = await test.store.listInstances({ filter: {}, after: null, limit: 5 });
      const expected: Record<string, unknown> = { ...(await get('i')) };
      delete expected['state'];
      delete expected['inbox'];
      expect(summary).toEqual(expected);
    });

    it('goes newest first and stays in step when start times are equal', async () => {
      const times = [3, 1, 2, 2, 2, 3, 1];
      for (const [index, startTime] of times.entries()) await insert(`i${index}`, { startTime });
      const everything = await list({});
      expect(everything).toEqual(['i5', 'i0', 'i4', 'i3', 'i2', 'i6', 'i1']);
      for (const limit of [1, 2, 3]) {
        const paged: string[] = [];
        let after: InstancePosition | null = null;
        for (;;) {
          const page = await test.store.listInstances({ filter: {}, after, limit });
          paged.push(...page.map(({ id }) => id));
          const last = page.at(-1);
          after = last === undefined ? null : { time: last.startTime, id: last.id };
          if (page.length < limit || after === null) break;
        }
        expect(paged).toEqual(everything);
      }
    });

    it('filters by each field and by several', async () => {
      await insert('a', { startTime: 1, reference: 'r1' });
      await insert('b', { startTime: 2, status: 'Suspended' });
      await insert('c', { startTime: 3, definitionId: 'other', version: 2, reference: 'r1' });
      await insert('d', { startTime: 4, version: 2 });
      await insert('e', { startTime: 5, definitionId: 'other', status: 'Complete', endTime: 6 });
      expect(await list({ status: 'Runnable' })).toEqual(['d', 'c', 'a']);
      expect(await list({ definitionId: 'order' })).toEqual(['d', 'b', 'a']);
      expect(await list({ definitionId: 'order', version: 2 })).toEqual(['d']);
      expect(await list({ version: 2 })).toEqual(['d', 'c']);
      expect(await list({ reference: 'r1' })).toEqual(['c', 'a']);
      expect(await list({ reference: 'r1', definitionId: 'other' })).toEqual(['c']);
      expect(await list({ reference: 'R1' })).toEqual([]);
      expect(await list({ startedFrom: 2, startedTo: 4 })).toEqual(['c', 'b']);
      expect(await list({ definitionId: 'other', status: 'Complete' })).toEqual(['e']);
      expect(await list({ status: 'Runnable', startedTo: 4 }, { time: 3, id: 'c' })).toEqual(['a']);
      expect(await list({ status: 'Runnable' }, null, 2)).toEqual(['d', 'c']);
    });

    it('filters by outcome and by parent', async () => {
      const child = { parentId: 'a', startTime: 5 };
      await insert('a', { startTime: 1 });
      await insert('b', { startTime: 2, status: 'Complete', endTime: 3, outcome: 'Succeeded' });
      await insert('c', { ...child, status: 'Complete', endTime: 6, outcome: 'Compensated' });
      await insert('d', { ...child, definitionId: 'other', startTime: 6 });
      await insert('e', { ...child, parentId: 'd', startTime: 7 });
      expect(await get('c')).toMatchObject({ outcome: 'Compensated', parentId: 'a' });
      expect(await list({})).toEqual(['e', 'd', 'c', 'b', 'a']);
      expect(await list({ parentId: null })).toEqual(['b', 'a']);
      expect(await list({ parentId: null }, { time: 2, id: 'b' })).toEqual(['a']);
      expect(await list({ parentId: null, status: 'Runnable' })).toEqual(['a']);
      expect(await list({ parentId: 'a' })).toEqual(['d', 'c']);
      expect(await list({ parentId: 'a' }, { time: 6, id: 'd' })).toEqual(['c']);
      expect(await list({ parentId: 'a', definitionId: 'other' })).toEqual(['d']);
      expect(await list({ parentId: 'nobody' })).toEqual([]);
      expect(await list({ outcome: 'Succeeded' })).toEqual(['b']);
      expect(await list({ outcome: 'Succeeded', definitionId: 'order' })).toEqual(['b']);
      expect(await list({ outcome: 'Compensated', definitionId: 'order' })).toEqual(['c']);
      expect(await list({ outcome: 'Compensated', parentId: null })).toEqual([]);
      expect(await list({ outcome: 'Compensated', parentId: 'a' })).toEqual(['c']);
      await test.store.controlInstance('a', 'terminate', 9);
      await test.store.controlInstance('d', 'suspend', 9);
      await test.store.commitInstance(
        commitOf(await get('e'), { status: 'Terminated', endTime: 9, outcome: 'Failed' }),
      );
      expect(await list({ outcome: 'Terminated' })).toEqual(['a']);
      expect(await list({ outcome: 'Failed' })).toEqual(['e']);
      // An end that gave way to something else is none.
      await test.store.commitInstance(commitOf(await get('e'), { status: 'Suspended' }));
      expect(await list({ outcome: 'Failed' })).toEqual([]);
      expect(await get('e')).toMatchObject({ outcome: null, parentId: 'd' });
    });

    it('inserts no more than so many open descendants of a root', async () => {
      const root = { rootId: 'top', parentId: 'top' };
      const start = (id: string, changes: Partial<InstanceRecord> = root, max = 3) =>
        test.store.insertInstance({
          record: instanceOf(id, changes),
          side: NO_SIDE,
          openDescendantsMax: max,
        });
      await insert('top');
      expect(await start('a')).toEqual({ outcome: 'inserted' });
      expect(await start('b', { ...root, status: 'Suspended' })).toEqual({ outcome: 'inserted' });
      // Those that have ended, and those of other roots, do not count.
      const ended = { ...root, status: 'Complete', endTime: 5, outcome: 'Succeeded' } as const;
      expect(await start('ended', ended)).toEqual({ outcome: 'inserted' });
      expect(await start('other', { rootId: 'b', parentId: 'b' })).toEqual({ outcome: 'inserted' });
      expect(await start('c', { ...root, parentId: 'a' })).toEqual({ outcome: 'inserted' });
      expect(await start('d')).toEqual({ outcome: 'full' });
      expect(await test.store.getInstance('d')).toBeNull();
      // One that is there was started: what is repeated is no start.
      expect(await start('a')).toMatchObject({ outcome: 'exists', record: { id: 'a', ...root } });
      // Roots are not limited, and neither are inserts that name no limit.
      expect(await start('root', {}, 0)).toEqual({ outcome: 'inserted' });
      await insert('unlimited', root);
      await test.store.controlInstance('a', 'terminate', 9);
      await test.store.commitInstance(
        commitOf(await get('b'), { status: 'Complete', endTime: 9, outcome: 'Succeeded' }),
      );
      expect(await get('b')).toMatchObject(root);
      expect(await start('d')).toEqual({ outcome: 'inserted' });
      expect(await start('e')).toEqual({ outcome: 'full' });
    });

    it('counts open descendants also when many are inserted at once', async () => {
      await insert('top');
      const max = 70;
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, async (_, n) => {
          const record = instanceOf(`d${n}`, { rootId: 'top', parentId: 'top' });
          const insertion = { record, side: NO_SIDE, openDescendantsMax: max };
          return (await test.store.insertInstance(insertion)).outcome;
        }),
      );
      expect(outcomes.filter((outcome) => outcome === 'inserted')).toHaveLength(max);
      expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(30);
      expect(await list({ parentId: 'top' }, null, 200)).toHaveLength(max);
    });

    it('finds those that show an error, the newest error first', async () => {
      await insert('fine');
      await insert('a', { errorAt: 20, startTime: 5 });
      await insert('b', { errorAt: 30, startTime: 4, status: 'Terminated', endTime: 30 });
      await insert('c', { errorAt: 20, startTime: 3, status: 'Suspended' });
      await insert('d', { errorAt: 10 });
      expect(await list({ failedFrom: 0 })).toEqual(['b', 'c', 'a', 'd']);
      expect(await list({ failedFrom: 20 })).toEqual(['b', 'c', 'a']);
      expect(await list({ failedFrom: 0, status: 'Suspended' })).toEqual(['c']);
      expect(await list({ failedFrom: 0 }, { time: 20, id: 'c' }, 1)).toEqual(['a']);
      await test.store.commitInstance(commitOf(await get('c'), { errorAt: null }));
      await test.store.commitInstance(commitOf(await get('fine'), { errorAt: 40 }));
      expect(await list({ failedFrom: 15 })).toEqual(['fine', 'b', 'a']);
      expect(await get('c')).toMatchObject({ errorAt: null });
    });

    it('finds open ones that did not change, the longest unchanged first', async () => {
      await insert('a', { lastChangeAt: 20 });
      await insert('b', { lastChangeAt: 10, status: 'Suspended' });
      await insert('c', { lastChangeAt: 20, definitionId: 'other' });
      await insert('done', { lastChangeAt: 5, status: 'Complete', endTime: 5 });
      await insert('new', { lastChangeAt: 90 });
      expect(await list({ unchangedSince: 90 })).toEqual(['b', 'a', 'c']);
      expect(await list({ unchangedSince: 90, definitionId: 'order' })).toEqual(['b', 'a']);
      expect(await list({ unchangedSince: 90 }, { time: 20, id: 'a' })).toEqual(['c']);
      await test.store.commitInstance(commitOf(await get('a'), { lastChangeAt: 95 }));
      await test.store.controlInstance('b', 'resume', 30);
      await test.store.controlInstance('c', 'terminate', 31);
      expect(await list({ unchangedSince: 95 })).toEqual(['b', 'new']);
      await test.store.commitInstance(
        commitOf(await get('b'), { status: 'Complete', endTime: 40, lastChangeAt: 40 }),
      );
      expect(await list({ unchangedSince: 95 })).toEqual(['new']);
      expect(await get('c')).toMatchObject({ lastChangeAt: 31 });
    });
  });
}

function isOver(status: InstanceStatus): status is 'Complete' | 'Terminated' {
  return status === 'Complete' || status === 'Terminated';
}
