/** Contract cases: messages to instances, and control actions on them. */
import { describe, expect, it } from 'vitest';
import type { InstanceStatus } from '../../../src/store/records/instances.js';
import type { StoreUnderTest } from '../conformance.js';
import { commitOf, instanceOf, NO_SIDE } from '../records.js';
import { callsOn, NOBODY } from './instance-calls.js';

export function describeInstanceMessages(test: StoreUnderTest): void {
  const { insert, get, post } = callsOn(test);

  describe('postMessages', () => {
    it('appends in order, and increments inSeq and wakes the instance for each message', async () => {
      await insert('i', { owner: 'node', wakeAt: 500 });
      await insert('j', { status: 'Suspended' });
      const posted = await test.store.postMessages([
        { instanceId: 'i', message: { id: 'z', body: '1' } },
        { instanceId: 'j', message: { id: 'z', body: '2' } },
        { instanceId: 'i', message: { id: 'a', body: '3' } },
      ]);
      expect(posted.map((entry) => entry?.instanceId)).toEqual(['i', 'j', 'i']);
      expect(posted[2]).toMatchObject({ instanceId: 'i', inSeq: 2, epoch: 1, owner: 'node' });
      const instance = await get('i');
      expect(instance.inbox).toEqual([
        { id: 'z', body: '1' },
        { id: 'a', body: '3' },
      ]);
      expect(instance).toMatchObject({ inSeq: 2, wakeAt: 0 });
      expect(await get('j')).toMatchObject({ inSeq: 1, wakeAt: 0, status: 'Suspended' });
    });

    it('counts a message that is already in the inbox as posted, and changes nothing', async () => {
      await insert('i', { wakeAt: 500 });
      await post('i', 'm');
      const before = await get('i');
      expect(await post('i', 'm')).toEqual([{ instanceId: 'i', inSeq: 1, ...NOBODY }]);
      expect(
        await test.store.postMessages([{ instanceId: 'i', message: { id: 'm', body: 'x' } }]),
      ).toEqual([{ instanceId: 'i', inSeq: 1, ...NOBODY }]);
      expect(await get('i')).toEqual(before);
    });

    it.each([
      ['has no message', {}, true],
      ['is suspended', { status: 'Suspended' }, true],
      ['has a message', { inbox: [{ id: 'other', body: '' }] }, false],
      ['has work under way', { underWay: true }, false],
      ['has crashed', { crashes: 1 }, false],
    ] as const)('says whether an instance rested that %s', async (_title, change, rested) => {
      await insert('i', change);
      expect(await post('i', 'm')).toMatchObject([{ rested }]);
    });

    it('says that an instance rests again after a commit', async () => {
      await insert('i');
      await post('i', 'm');
      expect(await post('i', 'n')).toMatchObject([{ rested: false }]);
      await test.store.commitInstance(commitOf(await get('i')));
      expect(await post('i', 'o')).toMatchObject([{ rested: true }]);
    });

    it('adds the same id once, even within one call', async () => {
      await insert('i');
      await post('i', 'm', 'm', 'n');
      expect(await get('i')).toMatchObject({ inSeq: 2, inbox: [{ id: 'm' }, { id: 'n' }] });
    });

    it('returns null if the instance has ended or does not exist', async () => {
      await insert('done', { status: 'Complete', endTime: 5 });
      await insert('killed', { status: 'Terminated', endTime: 5 });
      await insert('i');
      const posted = await test.store.postMessages(
        ['done', 'x', 'i', 'killed'].map((instanceId) => ({
          instanceId,
          message: { id: 'm', body: '' },
        })),
      );
      const rested = expect.any(Boolean) as unknown;
      expect(posted).toEqual([null, null, { instanceId: 'i', inSeq: 1, ...NOBODY, rested }, null]);
      expect(await get('done')).toMatchObject({ inbox: [], inSeq: 0, wakeAt: null });
    });

    it("fails a commit that hasn't seen the message", async () => {
      await insert('i');
      const before = await get('i');
      await post('i', 'm');
      expect(await test.store.commitInstance(commitOf(before))).toBe('lost');
      expect(await test.store.commitInstance(commitOf(await get('i')))).toBe('committed');
      expect(await get('i')).toMatchObject({ inbox: [], inSeq: 1 });
    });

    it('accepts an empty list of messages', async () => {
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
    ] as const)(
      'applies %s to a %s instance and makes it %s',
      async (action, from, to, endTime) => {
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
      },
    );

    it.each([
      ['suspend', 'Suspended'],
      ['suspend', 'Complete'],
      ['resume', 'Runnable'],
      ['resume', 'Terminated'],
      ['terminate', 'Complete'],
      ['terminate', 'Terminated'],
      ['compensate', 'Complete'],
      ['compensate', 'Terminated'],
    ] as const)(
      'rejects %s for an instance that is %s, and changes nothing',
      async (action, status) => {
        const outcome = { Complete: 'Succeeded', Terminated: 'Failed' } as const;
        const ended = isOver(status) ? { outcome: outcome[status] } : {};
        const record = instanceOf('i', { status, endTime: 7, ...ended });
        await test.store.insertInstance({ record, side: NO_SIDE });
        expect(await test.store.controlInstance('i', action, 99)).toEqual({
          outcome: 'refused',
          record,
        });
        expect(await get('i')).toEqual(record);
      },
    );

    it('adds its message to the inbox, and is rejected while the message is there', async () => {
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

    it('returns missing for an unknown instance', async () => {
      expect(await test.store.controlInstance('x', 'suspend', 1)).toEqual({ outcome: 'missing' });
    });

    it("keeps the inbox, and fails a commit that hasn't seen the message", async () => {
      await insert('i');
      await post('i', 'm');
      const before = await get('i');
      await test.store.controlInstance('i', 'suspend', 1);
      expect(await test.store.commitInstance(commitOf(before))).toBe('lost');
      expect((await get('i')).inbox).toHaveLength(1);
    });
  });
}

function isOver(status: InstanceStatus): status is 'Complete' | 'Terminated' {
  return status === 'Complete' || status === 'Terminated';
}
