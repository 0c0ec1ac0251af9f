/** Contract cases: a full inbox (rule S8), for each kind of message and each way out of it. */
import { describe, expect, it } from 'vitest';
import {
  INBOX_BYTES_MAX,
  messageBytes,
  OVERFLOW_MESSAGE,
  type InboxMessage,
} from '../../../src/store/records/messages.js';
import type { PostedMessage } from '../../../src/store/records/posted-messages.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import type { AuditEntry } from '../../../src/store/records/control.js';
import type { StoreUnderTest } from '../conformance.js';
import { activityOf, commitOf, instanceOf, NO_SIDE } from '../records.js';

/** A message that fills a quarter of an inbox. */
const QUARTER = 'x'.repeat(INBOX_BYTES_MAX / 4 - messageBytes({ id: '', body: '' }));
const FULL: readonly InboxMessage[] = ['1', '2', '3', '4'].map((id) => ({ id, body: QUARTER }));
const NOBODY = { owner: null, epoch: 1, rested: false };

export function describeInboxBounds(test: StoreUnderTest): void {
  const get = async (id: string): Promise<InstanceRecord> => (await test.store.getInstance(id))!;
  const insert = (id: string, inbox: readonly InboxMessage[] = []) =>
    test.store.insertInstance({ record: instanceOf(id, { inbox }), side: NO_SIDE });
  const post = async (
    message: InboxMessage,
    instanceId = 'i',
    toFullInbox?: true,
    audit?: AuditEntry,
  ): Promise<PostedMessage | null> => {
    const [posted] = await test.store.postMessages([
      { instanceId, message, ...(toFullInbox && { toFullInbox }), ...(audit && { audit }) },
    ]);
    return posted!;
  };
  const idsIn = async (id = 'i'): Promise<readonly string[]> =>
    (await get(id)).inbox.map((message) => message.id);
  const small = (id: string): InboxMessage => ({ id, body: '{}' });

  describe('a full inbox', () => {
    it('accepts messages from any source while bytes are free, even if the last one exceeds them', async () => {
      await insert('i', FULL.slice(0, 2));
      await post(FULL[2]!);
      expect(await post({ id: 'long', body: `${QUARTER}${QUARTER}` })).toEqual({
        instanceId: 'i',
        inSeq: 2,
        ...NOBODY,
      });
      expect(await post(small('m'))).toMatchObject({ overflowed: true });
      expect(await idsIn()).toEqual(['1', '2', '3', 'long', 'overflow']);
    });

    it('counts a fixed size for each message in addition to its length', async () => {
      await insert('i', FULL.slice(0, 3));
      await post({ ...FULL[3]!, body: QUARTER.slice(1) });
      expect(await post(small('m'))).not.toHaveProperty('overflowed');
      expect(await post(small('n'))).toMatchObject({ overflowed: true });
    });

    it('receives the overflow message once, which wakes the instance', async () => {
      await insert('i', FULL);
      expect(await post(small('m'))).toEqual({
        instanceId: 'i',
        inSeq: 1,
        overflowed: true,
        ...NOBODY,
      });
      expect(await get('i')).toMatchObject({ inSeq: 1, wakeAt: 0 });
      expect((await get('i')).inbox).toEqual([...FULL, OVERFLOW_MESSAGE]);
      const full = await get('i');
      expect(await post(small('n'))).toEqual({
        instanceId: 'i',
        inSeq: 1,
        overflowed: true,
        ...NOBODY,
      });
      expect(await get('i')).toEqual(full);
    });

    it('fails a commit that has not seen the overflow message', async () => {
      await insert('i', FULL);
      const before = await get('i');
      await post(small('m'));
      expect(await test.store.commitInstance(commitOf(before))).toBe('lost');
    });

    it('accepts a commit that has seen it, however many messages arrive in between', async () => {
      await insert('i', FULL);
      await post(small('m'));
      const seen = await get('i');
      await Promise.all(Array.from({ length: 20 }, (_, n) => post(small(`n${n}`))));
      expect(await test.store.commitInstance(commitOf(seen))).toBe('committed');
      expect(await idsIn()).toEqual([]);
    });

    it("records the actions of all messages that don't fit", async () => {
      await insert('i', FULL);
      const audit = [3, 4].map(
        (time) => ({ time, actor: 'ada', action: 'retry', detail: null }) as const,
      );
      for (const entry of audit) await post(small(`m${entry.time}`), 'i', undefined, entry);
      expect(await test.store.listAudit('i')).toEqual(audit.toReversed());
      expect(await get('i')).toMatchObject({ inSeq: 1 });
    });

    it('counts a message that is already in it as posted, and changes nothing', async () => {
      await insert('i', FULL);
      const before = await get('i');
      expect(await post(FULL[1]!)).toEqual({ instanceId: 'i', inSeq: 0, ...NOBODY });
      expect(await get('i')).toEqual(before);
    });

    it('accepts messages again after a commit, unless the commit kept the inbox', async () => {
      await insert('i', FULL);
      await test.store.commitInstance(commitOf(await get('i'), { keepInbox: true }));
      expect(await post(small('m'))).toMatchObject({ overflowed: true });
      await test.store.commitInstance(commitOf(await get('i')));
      expect(await post(small('n'))).not.toHaveProperty('overflowed');
      expect(await idsIn()).toEqual(['n']);
    });

    it('affects only its own instance in a call with several messages', async () => {
      await insert('i', FULL);
      await insert('j');
      await test.store.insertInstance({
        record: instanceOf('gone', { status: 'Complete', endTime: 1 }),
        side: NO_SIDE,
      });
      const posted = await test.store.postMessages(
        ['j', 'i', 'gone', 'i'].map((instanceId, index) => ({
          instanceId,
          message: small(`m${index}`),
        })),
      );
      expect(
        posted.map((answer) => answer?.overflowed ?? (answer === null ? null : false)),
      ).toEqual([false, true, null, true]);
      expect(await idsIn('j')).toEqual(['m0']);
      expect(await idsIn('i')).toEqual(['1', '2', '3', '4', 'overflow']);
    });

    it('accepts short messages beyond its limit, and records the action', async () => {
      await insert('i', FULL);
      const audit = { time: 5, actor: 'ada', action: 'retry', detail: null } as const;
      expect(await post(small('m'), 'i', true, audit)).toEqual({
        instanceId: 'i',
        inSeq: 1,
        ...NOBODY,
      });
      expect(await idsIn()).toEqual(['1', '2', '3', '4', 'm']);
      expect(await test.store.listAudit('i')).toEqual([audit]);
    });

    it('accepts the message of a control action, and counts it towards the limit', async () => {
      await insert('i', FULL.slice(0, 3));
      const message = { ...FULL[3]!, id: 'told' };
      await test.store.controlInstance('i', 'compensate', 1, undefined, message);
      expect(await post(small('m'))).toMatchObject({ overflowed: true });
      await test.store.controlInstance('i', 'compensate', 1, undefined, small('again'));
      expect(await idsIn()).toEqual(['1', '2', '3', 'told', 'overflow', 'again']);
    });

    it('keeps the result of an activity with its item, to be sent again', async () => {
      await test.store.insertInstance({
        record: instanceOf('i', { inbox: FULL }),
        side: {
          ...NO_SIDE,
          activities: [
            activityOf('i/1/0', 'i', {
              claim: { tokenHash: 'w', workerId: 'w', leaseExpiresAt: 9000 },
            }),
          ],
        },
      });
      const audit = { time: 5, actor: 'ada', action: 'complete-activity', detail: null } as const;
      const request = {
        activityId: 'i/1/0',
        tokenHash: 'w',
        result: { succeeded: true, data: '7', hash: 'h' },
        now: 2000,
        message: small('result'),
        audit,
      };
      expect(await test.store.completeActivity(request)).toMatchObject({
        outcome: 'accepted',
        posted: { inSeq: 1, overflowed: true },
      });
      expect(await test.store.listAudit('i')).toEqual([audit]);
      expect(await test.store.completeActivity(request)).toEqual({ outcome: 'repeated' });
      expect(await test.store.findUnsettledActivities(3000, 10)).toMatchObject([
        { id: 'i/1/0', doneAt: 2000, result: request.result },
      ]);
      expect(await idsIn()).toEqual(['1', '2', '3', '4', 'overflow']);
    });

    it('counts the overflow message once among many activity results', async () => {
      const ids = Array.from({ length: 6 }, (_, n) => `i/${n}/0`);
      const claim = { tokenHash: 'w', workerId: 'w', leaseExpiresAt: 9000 };
      await test.store.insertInstance({
        record: instanceOf('i', { inbox: FULL.slice(0, 3) }),
        side: { ...NO_SIDE, activities: ids.map((id) => activityOf(id, 'i', { claim })) },
      });
      const complete = (activityId: string) =>
        test.store.completeActivity({
          activityId,
          tokenHash: 'w',
          result: { succeeded: true, data: '7', hash: 'h' },
          now: 2000,
          message: { id: `result ${activityId}`, body: QUARTER },
        });
      const answers = await Promise.all(ids.map(complete));
      const posted = answers.map((answer) => (answer as { posted: PostedMessage }).posted);
      expect(posted.filter(({ overflowed }) => overflowed !== true)).toMatchObject([{ inSeq: 1 }]);
      const overflowed = posted.filter((each) => each.overflowed === true);
      expect(overflowed.map(({ inSeq }) => inSeq)).toEqual([2, 2, 2, 2, 2]);
      expect(await get('i')).toMatchObject({ inSeq: 2, wakeAt: 0 });
      expect((await idsIn()).slice(4)).toEqual(['overflow']);
      expect(await test.store.findUnsettledActivities(3000, 10)).toHaveLength(6);
    });
  });
}
