/**
 * Goal: results that did not fit into an inbox are sent when there is room, and those of an instance that never takes any hold
 * up nobody.
 */
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { ResultResender } from '../../../src/runtime/activities/result-resender.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { INBOX_BYTES_MAX } from '../../../src/store/records/messages.js';
import { activityOf, commitOf, instanceOf, NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

const DONE_BEFORE = Number.MAX_SAFE_INTEGER;

/** Lets promises that are settled run on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** @param results how many unsettled results each instance has; the inbox of `full` is full */
async function setUp(results: Readonly<Record<string, number>>) {
  const store = createMemoryStore();
  const clock = new ManualClock();
  const reads = { pages: 0 };
  let doneAt = 1;
  for (const [id, count] of Object.entries(results)) {
    const claim = { tokenHash: 't', workerId: 'w', leaseExpiresAt: DONE_BEFORE };
    const activities = Array.from({ length: count }, (_, n) =>
      activityOf(`${id}/${n}/0`, id, { claim }),
    );
    const filler = { id: 'filler', body: 'x'.repeat(INBOX_BYTES_MAX) };
    const record = instanceOf(id, { inbox: [filler] });
    await store.insertInstance({ record, side: { ...NO_SIDE, activities } });
    for (const { id: activityId } of activities) {
      const result = { succeeded: true, data: '1', hash: 'h' };
      const message = { id: `activity/${activityId}`, body: '{}' };
      const request = { activityId, tokenHash: 't', result, message, now: (doneAt += 1) };
      expect((await store.completeActivity(request)).outcome).toBe('accepted');
    }
    if (id !== 'full') await store.commitInstance(commitOf((await store.getInstance(id))!));
  }
  const resender = new ResultResender({
    clock,
    logger: createLogger({ level: 'silent' }),
    posted: () => undefined,
    store: {
      postMessages: (messages) => store.postMessages(messages),
      findUnsettledActivities: (...args) => {
        reads.pages += 1;
        return store.findUnsettledActivities(...args);
      },
    },
  });
  const sentTo = async (id: string) =>
    (await store.getInstance(id))!.inbox.filter((message) => message.id.startsWith('activity/'))
      .length;
  const empty = async (id: string) =>
    store.commitInstance(commitOf((await store.getInstance(id))!));
  return { clock, empty, reads, resender, sentTo };
}

it('sends the results of other runs behind many that do not fit', async () => {
  const { resender, sentTo } = await setUp({ full: 700, other: 3 });
  await resender.resend(DONE_BEFORE);
  expect(await sentTo('other')).toBe(0);
  await resender.resend(DONE_BEFORE);
  expect(await sentTo('other')).toBe(3);
  expect(await sentTo('full')).toBe(0);
});

it('tries again soon after a result did not fit, and then less and less often', async () => {
  const { clock, empty, reads, resender, sentTo } = await setUp({ full: 2 });
  resender.soon();
  resender.soon();
  for (const [attempts, ms] of [1000, 2000, 4000, 8000].entries()) {
    clock.advance(ms - 1);
    await settle();
    // Each attempt reads until a page is empty.
    expect(reads.pages).toBe(attempts * 2);
    clock.advance(1);
    await settle();
  }
  clock.advance(60_000);
  expect(reads.pages).toBe(8);
  expect(clock.pending).toBe(0);
  await empty('full');
  resender.soon();
  clock.advance(1000);
  await settle();
  expect(await sentTo('full')).toBe(2);
});

it('sends nothing more once it is stopped', async () => {
  const { clock, reads, resender } = await setUp({ full: 1 });
  resender.soon();
  resender.stop();
  clock.advance(60_000);
  resender.soon();
  clock.advance(60_000);
  await settle();
  expect(reads.pages).toBe(0);
});
