/**
 * The messages of one instance: which are new after the stored inbox was read again, and how many are resolved
 * together.
 */
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import type { EventMessage } from '../../../src/engine/flow/messages.js';
import { ActorInbox } from '../../../src/runtime/instances/actor-inbox.js';
import {
  inboxMessage,
  messagesCost,
  REFERRED_BYTES_MAX,
} from '../../../src/runtime/instance-state/message-codec.js';
import { OVERFLOW_MESSAGE, type InboxMessage } from '../../../src/store/records/messages.js';

const RETRY = inboxMessage('retry/1', { kind: 'retry-now' });

/** Refers to an event or a child of this many bytes. */
const reference = (id: string, cost: number): InboxMessage => ({
  id,
  body: JSON.stringify({ kind: 'event-reference', eventId: id, cost }),
});

function environmentOf(loaded: string[] = []) {
  return {
    logger: createLogger({ level: 'silent' }),
    loadEvent: (eventId: string): Promise<EventMessage> => {
      loaded.push(eventId);
      return Promise.resolve({
        kind: 'event',
        eventId,
        name: 'n',
        key: 'k',
        publishedAt: 1,
        data: null,
      } as const);
    },
    loadEnd: () => Promise.reject(new Error('no child has ended')),
    loadDefinition: () => Promise.reject(new Error('no version is read')),
  };
}

it('applies each message once per commit', async () => {
  const inbox = new ActorInbox('w', 0);
  const kinds = async () => (await inbox.takeIn(environmentOf())).map(({ kind }) => kind);
  inbox.replace({ inSeq: 2, inbox: [RETRY, OVERFLOW_MESSAGE] });
  expect(await kinds()).toEqual(['retry-now', 'overflow']);
  // The instance was suspended, for example: the counter is higher, but the stored inbox is the same.
  inbox.replace({ inSeq: 3, inbox: [RETRY, OVERFLOW_MESSAGE] });
  expect(await kinds()).toEqual([]);
  expect(inbox).toMatchObject({ inSeq: 3, hasTakenIn: true });
  inbox.committed();
  inbox.replace({ inSeq: 4, inbox: [OVERFLOW_MESSAGE] });
  expect(await kinds()).toEqual(['overflow']);
});

it('applies a modification after everything that arrived before it', async () => {
  const inbox = new ActorInbox('w', 0);
  const modify = (id: string): InboxMessage =>
    inboxMessage(id, {
      kind: 'modify',
      id,
      modification: { reason: id, data: null, cancel: [], start: [], stepMap: {}, resume: false },
      definitionId: 'd',
      version: null,
      hasResumed: false,
      repair: { action: 'modify', actor: 'ada' },
    });
  const arrived = [
    reference('e1', 1),
    RETRY,
    modify('first'),
    reference('e2', 1),
    modify('second'),
  ];
  inbox.replace({ inSeq: 5, inbox: arrived });
  const messages = await inbox.takeIn(environmentOf());
  const names = messages.map((message) =>
    message.kind === 'modify'
      ? message.id
      : message.kind === 'event'
        ? message.eventId
        : message.kind,
  );
  expect(names).toEqual(['retry-now', 'e1', 'first', 'e2', 'second']);
});

it('replaces messages that do not fit by the overflow message, and needs no second read', async () => {
  const inbox = new ActorInbox('w', 0);
  const overflowed = (inSeq: number) => inbox.deliver({ ...OVERFLOW_MESSAGE, inSeq });
  inbox.replace({ inSeq: 1, inbox: [RETRY] });
  expect(overflowed(2)).toBe(true);
  expect(overflowed(2)).toBe(true);
  expect(inbox.waiting.map(({ id }) => id)).toEqual(['retry/1', 'overflow']);
  await inbox.takeIn(environmentOf());
  expect(overflowed(2)).toBe(true);
  expect(inbox).toMatchObject({ isEmpty: true, inSeq: 2 });
  // Something else has incremented the counter.
  expect(overflowed(3)).toBe(false);
});

it('resolves only as many references at a time as fit into memory, and finally all', async () => {
  const loaded: string[] = [];
  const inbox = new ActorInbox('w', 0);
  const cost = REFERRED_BYTES_MAX / 4;
  const messages = Array.from({ length: 10 }, (_, n) => reference(`${n}`, cost + 1));
  inbox.receive([RETRY, ...messages]);
  const counts: number[] = [];
  while (!inbox.isEmpty) {
    await inbox.takeIn(environmentOf(loaded));
    counts.push(loaded.length);
  }
  expect(counts).toEqual([4, 8, 10]);
  const atOnce = messagesCost([RETRY, ...messages]);
  expect(atOnce).toBeGreaterThan(4 * cost);
  expect(atOnce).toBeLessThan(6 * cost);
});

it('resolves a single reference of any size', async () => {
  const loaded: string[] = [];
  const inbox = new ActorInbox('w', 0);
  const cost = REFERRED_BYTES_MAX * 3;
  inbox.receive([reference('a', cost), reference('b', cost)]);
  await inbox.takeIn(environmentOf(loaded));
  expect(loaded).toEqual(['a']);
  expect(messagesCost(inbox.waiting)).toBeGreaterThan(cost);
});
