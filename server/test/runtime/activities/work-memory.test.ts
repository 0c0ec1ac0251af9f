/**
 * Goal: the memory for a long work item is taken before the item is claimed, and what does not fit stays in the queue.
 * Method: polls of two callers with little memory, on a real store.
 */
import { beforeEach, expect, it } from 'vitest';
import { AnswerMemory } from '../../../src/base/limits/answer-memory.js';
import { runForCaller } from '../../../src/base/limits/current-caller.js';
import { HeldMemory } from '../../../src/base/limits/held-memory.js';
import { systemIds } from '../../../src/base/ids.js';
import { createLogger } from '../../../src/base/logger.js';
import { ActivityBroker } from '../../../src/runtime/activities/activity-broker.js';
import { WorkClaims } from '../../../src/runtime/activities/work-claims.js';
import { writeWork } from '../../../src/runtime/instance-state/message-codec.js';
import { Secrets } from '../../../src/runtime/secrets/secrets.js';
import { NO_SECRETS } from '../../../src/secrets/secret-source.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { NewActivityRecord } from '../../../src/store/records/activities.js';
import type { Store } from '../../../src/store/store.js';
import { activityOf, instanceOf, NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

const logger = createLogger({ level: 'silent' });
const PARAMETERS = writeWork({ stepId: 's', attempt: 1, parameters: 'x'.repeat(10_000) });
/** Room for one item of each caller. */
const BYTES_MAX = PARAMETERS.length * 8 * 2;

let clock: ManualClock;
let store: Store;
let account: AnswerMemory;
let broker: ActivityBroker;

beforeEach(() => {
  clock = new ManualClock();
  store = createMemoryStore();
  account = new AnswerMemory({ bytesMax: BYTES_MAX, refused: () => undefined });
  const secrets = new Secrets({ source: NO_SECRETS, store, ids: systemIds });
  const ignore = () => undefined;
  const options = { store, clock, logger, secrets, ids: systemIds, metrics: { activity: ignore } };
  const claims = new WorkClaims({
    lookAtLimits: () => undefined,
    claimRefused: () => undefined,
    ...options,
    leaseMsMax: 86_400_000,
    bindsLeases: () => true,
    claimer: () => undefined,
    posted: ignore,
    offer: (name) => broker.announce(name),
  });
  broker = new ActivityBroker({
    ...options,
    claims,
    waitersMax: 100,
    scanIntervalMs: () => 1000,
    hintOthers: ignore,
  });
});

function work(id: string): NewActivityRecord {
  return activityOf(`${id}/1/0`, id, { parameters: PARAMETERS });
}

async function offer(...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await store.insertInstance({
      record: instanceOf(id),
      side: { ...NO_SIDE, activities: [work(id)] },
    });
  }
}

interface Poll {
  /** The run of the item, or null; undefined while it waits. */
  answer: string | null | undefined;
  readonly over: Promise<string | null>;
  /** Its answer has been sent, or its caller has disconnected. */
  readonly end: () => void;
}

function poll(key: string, timeoutMs = 30_000): Poll {
  const gone = new AbortController();
  const memory = new HeldMemory(account, { key, gone: gone.signal });
  const release = memory.hold();
  const caller = { key, address: key, gone: gone.signal, memory };
  const request = { name: 'ship', workerId: 'w', timeoutMs, leaseMs: 60_000, signal: gone.signal };
  const over = runForCaller(caller, () => broker.pull(request)).then(
    (item) => (started.answer = item?.workflowId ?? null),
  );
  over.catch(() => undefined);
  const end = (): void => {
    gone.abort();
    release();
  };
  const started: Poll = { answer: undefined, over, end };
  return started;
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function isClaimed(id: string): Promise<boolean> {
  const [item] = await store.getActivities([`${id}/1/0`]);
  return item!.tokenHash !== null;
}

it("keeps a poll beyond its caller's memory waiting without claiming its item, and serves others", async () => {
  await offer('i', 'j');
  const first = poll('a');
  expect(await first.over).toBe('i');
  const second = poll('a');
  await settled();
  expect([second.answer, await isClaimed('j')]).toEqual([undefined, false]);
  const other = poll('b');
  expect(await other.over).toBe('j');
  await offer('k');
  broker.offered('ship');
  first.end();
  expect(await second.over).toBe('k');
  for (const { end } of [second, other]) end();
  expect(account.used).toBe(0);
});

it('ends a poll that waits for memory with its timeout, and refuses one without a timeout', async () => {
  await offer('i', 'j');
  const first = poll('a');
  await first.over;
  const waiting = poll('a', 5000);
  await settled();
  await expect(poll('a', 0).over).rejects.toMatchObject({ code: 'too_many_requests' });
  clock.advance(5000);
  expect(await waiting.over).toBeNull();
  expect([broker.waiting, account.waiting, await isClaimed('j')]).toEqual([0, 0, false]);
});

it('claims nothing for a poll whose caller leaves while it waits for memory', async () => {
  await offer('i', 'j');
  const first = poll('a');
  await first.over;
  const leaving = poll('a');
  await settled();
  leaving.end();
  expect(await leaving.over).toBeNull();
  first.end();
  await settled();
  expect([account.used, account.waiting, await isClaimed('j')]).toEqual([0, 0, false]);
});

it('ends polls that wait for memory when the node stops', async () => {
  await offer('i', 'j');
  const first = poll('a');
  await first.over;
  const waiting = poll('a');
  await settled();
  await broker.stop();
  expect(await waiting.over).toBeNull();
});

it('keeps a poll waiting for the next item if it got memory but its item was gone', async () => {
  await offer('i', 'j');
  const first = poll('a');
  await first.over;
  const second = poll('a');
  await settled();
  const other = poll('b');
  expect(await other.over).toBe('j');
  first.end();
  await settled();
  expect([second.answer, account.used]).toEqual([undefined, PARAMETERS.length * 8]);
  await offer('k');
  broker.offered('ship');
  expect(await second.over).toBe('k');
});

it('reserves a new item for a waiting poll only if it fits into the memory of its caller', async () => {
  await offer('i');
  const first = poll('a');
  await first.over;
  poll('a');
  await settled();
  expect(
    broker.reserve({ name: 'ship', id: 'j/1/0', length: PARAMETERS.length, needsSlots: false }),
  ).toBeNull();
  expect(
    broker.reserve({ name: 'ship', id: 'j/1/0', length: 100, needsSlots: false }),
  ).not.toBeNull();
  broker.release('j/1/0');
  first.end();
  await settled();
  expect(
    broker.reserve({ name: 'ship', id: 'j/1/0', length: PARAMETERS.length, needsSlots: false }),
  ).not.toBeNull();
  expect(account.used).toBe(PARAMETERS.length * 8);
  broker.release('j/1/0');
  await settled();
  expect(account.used).toBe(0);
});
