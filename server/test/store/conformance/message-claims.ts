/** Contract cases: a step that adds a message claims an instance that rests (S13). */
import { describe, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import {
  CLAIMED_BY_EVENT_MAX,
  CLAIMED_STATE_BYTES_MAX,
  type MessageClaimer,
  type PostedMessage,
} from '../../../src/store/records/posted-messages.js';
import type { StoreUnderTest } from '../conformance.js';
import {
  activityOf,
  claimBy,
  claimOf,
  commitOf,
  eventOf,
  instanceOf,
  NO_SIDE,
} from '../records.js';

const CLAIMER: MessageClaimer = { owner: 'me', from: ['other', 'third'], schemaVersionMax: 5 };
const OWNED = { owner: 'other', wakeAt: 900, schemaVersion: 5 } as const;
const MESSAGE = { id: 'm', body: 'body m' };

/** Each adds a message to the instance `i` for the claimer. */
type Way = 'message' | 'result' | 'event';

export function describeMessageClaims(test: StoreUnderTest): void {
  const get = async (id: string) => (await test.store.getInstance(id))!;
  const insert = (id: string, changes: Partial<InstanceRecord> = {}, effectiveAt = 0) =>
    test.store.insertInstance({
      record: instanceOf(id, { ...OWNED, ...changes }),
      side: {
        ...NO_SIDE,
        subscriptions: [{ id: `${id}/1/0`, instanceId: id, nameKey: 'paid/7', effectiveAt }],
        activities: [activityOf(`${id}/2/0`, id)],
      },
    });
  const post = async (id: string, claimer: MessageClaimer | undefined = CLAIMER, name = 'm') => {
    const message = { id: name, body: `body ${name}` };
    const [posted] = await test.store.postMessages([{ instanceId: id, message }], claimer);
    return posted!;
  };
  const complete = async (claimer: MessageClaimer) => {
    await claimOf(test.store, { name: 'ship', now: 2000, claim: claimBy('w'), deferMs: 1000 });
    const completed = await test.store.completeActivity({
      activityId: 'i/2/0',
      tokenHash: 'token-w',
      result: { succeeded: true, data: '1', hash: 'hash' },
      now: 5000,
      message: MESSAGE,
      claimer,
    });
    return completed.outcome === 'accepted' ? completed.posted! : expect.fail(completed.outcome);
  };
  const publish = async (claimer: MessageClaimer): Promise<PostedMessage> => {
    const inserted = await test.store.insertEvent(eventOf('e'), MESSAGE, claimer);
    if (inserted.outcome === 'exists') expect.fail('the event exists');
    // MongoDB leaves it to the caller.
    return inserted.posted[0] ?? post('i', claimer);
  };
  const add: Readonly<Record<Way, (claimer: MessageClaimer) => Promise<PostedMessage>>> = {
    message: (claimer) => post('i', claimer),
    result: complete,
    event: publish,
  };

  describe.each<Way>(['message', 'result', 'event'])('the claim with a %s', (way) => {
    it('claims an instance that rests, and answers with the instance', async () => {
      await insert('i');
      const posted = await add[way](CLAIMER);
      const claimed = await get('i');
      expect(claimed).toMatchObject({ owner: 'me', epoch: 2, inSeq: 1, wakeAt: 0, crashes: 0 });
      expect(claimed.inbox).toEqual([{ id: 'm', body: 'body m' }]);
      const answer = { instanceId: 'i', inSeq: 1, epoch: 2, owner: 'me', rested: true, claimed };
      const isEvent = way === 'event' && test.store.kind !== 'mongo';
      expect(posted).toEqual({ ...answer, ...(isEvent && { onlyEventOf: 'paid/7' }) });
      expect(await test.store.findDueInstances(1000, 10)).toMatchObject([{ id: 'i', owner: 'me' }]);
    });

    it('fences the former owner', async () => {
      await insert('i');
      const before = await get('i');
      await add[way](CLAIMER);
      const fenced = { ...before, inSeq: 1 };
      expect(await test.store.commitInstance(commitOf(fenced))).toBe('lost');
      expect(await test.store.commitInstance(commitOf(await get('i')))).toBe('committed');
    });

    it.each<[string, Partial<InstanceRecord>, Partial<MessageClaimer>]>([
      ['has another message', { inbox: [{ id: 'other', body: '' }] }, {}],
      ['has work under way', { underWay: true }, {}],
      ['has crashed', { crashes: 1 }, {}],
      ['has no owner', { owner: null }, {}],
      ['belongs to the claimer', { owner: 'me' }, {}],
      ['belongs to a node from which the claimer does not take', { owner: 'stranger' }, {}],
      ['belongs to anybody, if the claimer takes from nobody', {}, { from: [] }],
      ['was written by a newer server', { schemaVersion: 6 }, {}],
    ])('leaves an instance that %s', async (_title, changes, claimer) => {
      await insert('i', changes);
      const posted = await add[way]({ ...CLAIMER, ...claimer });
      const { owner } = await get('i');
      expect(owner).toBe(changes.owner === undefined ? 'other' : changes.owner);
      expect(posted).toMatchObject({ inSeq: 1, epoch: 1, owner });
      expect(posted.claimed).toBeUndefined();
      expect(await get('i')).toMatchObject({ epoch: 1, inSeq: 1, wakeAt: 0 });
    });

    it('answers with an instance of the maximum length', async () => {
      await insert('i', { state: 'ä'.repeat(CLAIMED_STATE_BYTES_MAX / 2) });
      expect((await add[way](CLAIMER)).claimed?.state.length).toBe(CLAIMED_STATE_BYTES_MAX / 2);
    });

    it('answers without a longer instance, which it claims all the same', async () => {
      await insert('i', { state: 'ä'.repeat(CLAIMED_STATE_BYTES_MAX / 2 + 1) });
      const posted = await add[way](CLAIMER);
      expect(posted).toEqual({ instanceId: 'i', inSeq: 1, epoch: 2, owner: 'me', rested: true });
      expect(await get('i')).toMatchObject({ epoch: 2, owner: 'me' });
    });
  });

  it('claims nothing without a claimer, with a repeated message, or after the end', async () => {
    await insert('i');
    await insert('ended', { status: 'Complete', endTime: 5 });
    expect(await test.store.postMessages([{ instanceId: 'i', message: MESSAGE }])).toMatchObject([
      { epoch: 1, owner: 'other', rested: true },
    ]);
    expect(await post('i')).toMatchObject({ epoch: 1, owner: 'other', rested: false });
    expect(await post('ended')).toBeNull();
    expect(await get('i')).toMatchObject({ epoch: 1, owner: 'other' });
  });

  it('lets one of many simultaneous claimers win', async () => {
    await insert('i');
    const stores = [test.store, await test.open()];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        stores[n % 2]!.postMessages([{ instanceId: 'i', message: { id: `m${n}`, body: '' } }], {
          ...CLAIMER,
          owner: `node ${n}`,
        }),
      ),
    );
    const claims = answers.flatMap(([answer]) => answer?.claimed ?? []);
    expect(claims).toHaveLength(1);
    const stored = await get('i');
    expect(stored).toMatchObject({ epoch: 2, inSeq: 10, owner: claims[0]!.owner });
    expect(stored.inbox).toHaveLength(10);
  });

  it('lets one of a claim and a message with a claimer win', async () => {
    await insert('i');
    const other = await test.open();
    const claim = { id: 'i', epoch: 1, owner: 'thief', suspected: false };
    const [claimed, posted] = await Promise.all([other.claimInstance(claim), post('i')]);
    const { epoch, owner } = await get('i');
    expect(epoch).toBe(2);
    expect(owner).toBe(claimed === null ? 'me' : 'thief');
    expect(posted.claimed === undefined).toBe(claimed !== null);
  });

  it.each<[string, number, string, boolean]>([
    ['no other event', 5, 'paid/8', true],
    ['an older event for another key', 15, 'paid/8', true],
    ['an event from before the wait', 9, 'paid/7', true],
    ['an older event for the wait', 10, 'paid/7', false],
    ['a newer event for the wait', 25, 'paid/7', false],
  ])('tells whether a claimed instance has %s', async (_title, publishedAt, nameKey, isOnly) => {
    await insert('i', {}, 10);
    await test.store.insertEvent(eventOf('other', { nameKey, publishedAt }));
    const inserted = await test.store.insertEvent(
      eventOf('e', { nameKey: 'paid/7', publishedAt: 20 }),
      MESSAGE,
      CLAIMER,
    );
    const posted = inserted.outcome === 'inserted' ? inserted.posted : [];
    const expected = isOnly ? 'paid/7' : undefined;
    const isKnown = test.store.kind !== 'mongo';
    expect(posted.map((answer) => answer.onlyEventOf)).toEqual(isKnown ? [expected] : []);
  });

  it('claims at most as many instances with one event as it may', async () => {
    const ids = Array.from({ length: CLAIMED_BY_EVENT_MAX + 2 }, (_, n) => `i${n}`);
    for (const id of ids) await insert(id);
    const inserted = await test.store.insertEvent(eventOf('e'), MESSAGE, CLAIMER);
    const posted = inserted.outcome === 'inserted' ? inserted.posted : [];
    const claimed = posted.filter((answer) => answer.claimed !== undefined);
    expect(claimed).toHaveLength(test.store.kind === 'mongo' ? 0 : CLAIMED_BY_EVENT_MAX);
    const stored = await Promise.all(ids.map(get));
    expect(stored.filter(({ owner }) => owner === 'me')).toHaveLength(claimed.length);
  });
}
