/** Polls and the work that they get, on a real store and a clock that the tests move. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Logger } from '../../../src/base/logger.js';
import { ActivityBroker } from '../../../src/runtime/activities/activity-broker.js';
import type { PullRequest } from '../../../src/runtime/activities/activity-types.js';
import { Secrets } from '../../../src/runtime/secrets/secrets.js';
import { NO_SECRETS } from '../../../src/secrets/secret-source.js';
import { WorkClaims } from '../../../src/runtime/activities/work-claims.js';
import { writeWork } from '../../../src/runtime/instance-state/message-codec.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { observeStore } from '../../../src/store/observed-store.js';
import type { NewActivityRecord } from '../../../src/store/records/activities.js';
import { StoreUnavailableError, type Store } from '../../../src/store/store.js';
import { activityOf, instanceOf, NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';
import { systemIds } from '../../../src/base/ids.js';

const ignore = (): void => undefined;
const logger: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
  child: () => logger,
};
const WORK = writeWork({ stepId: 's', attempt: 1, parameters: { amount: 5 } });
const SCAN_MS = 1000;

let clock: ManualClock;
let store: Store;
let claimsAsked: number;
let isAway: boolean;
let counted: string[];
let hinted: string[];

beforeEach(() => {
  clock = new ManualClock();
  claimsAsked = 0;
  isAway = false;
  counted = [];
  hinted = [];
  store = observeStore(createMemoryStore(), {
    before: ({ name }) => {
      if (name === 'claimActivity') claimsAsked += 1;
      if (isAway) throw new StoreUnavailableError('away');
    },
  });
});

function startBroker(options: { readonly waitersMax?: number } = {}): ActivityBroker {
  return startNode(options).broker;
}

function startNode({ waitersMax = 10 } = {}): {
  readonly broker: ActivityBroker;
  readonly claims: WorkClaims;
} {
  const metrics = { activity: (what: string) => void counted.push(what) };
  const secrets = new Secrets({ source: NO_SECRETS, store, ids: systemIds });
  const options = {
    store,
    clock,
    ids: systemIds,
    logger,
    metrics,
    secrets,
    claimer: () => undefined,
    posted: ignore,
  };
  const claims = new WorkClaims({
    lookAtLimits: () => undefined,
    claimRefused: () => undefined,
    ...options,
    leaseMsMax: 86_400_000,
    bindsLeases: () => true,
    offer: (name) => broker.announce(name),
  });
  const broker: ActivityBroker = new ActivityBroker({
    ...options,
    claims,
    waitersMax,
    scanIntervalMs: () => SCAN_MS,
    hintOthers: (name) => void hinted.push(name),
  });
  return { broker, claims };
}

/** The result of a poll: the id of the instance, null for no work; undefined while it waits. */
interface Poll {
  readonly answer: () => string | null | undefined;
  readonly hangUp: () => void;
  readonly over: Promise<string | null>;
}

function poll(broker: ActivityBroker, changes: Partial<PullRequest> = {}): Poll {
  const controller = new AbortController();
  let answer: string | null | undefined;
  const over = broker
    .pull({
      name: 'ship',
      workerId: 'w',
      timeoutMs: 30_000,
      leaseMs: 60_000,
      signal: controller.signal,
      ...changes,
    })
    .then((item) => (answer = item?.workflowId ?? null));
  over.catch(ignore);
  return { answer: () => answer, hangUp: () => controller.abort(), over };
}

function work(instanceId: string): NewActivityRecord {
  return activityOf(`${instanceId}/1/0`, instanceId, { parameters: WORK });
}

async function offerWork(instanceId: string): Promise<NewActivityRecord> {
  const activity = work(instanceId);
  const side = { ...NO_SIDE, activities: [activity] };
  await store.insertInstance({ record: instanceOf(instanceId), side });
  return activity;
}

/** Everything has advanced as far as it can without a timer. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('a poll', () => {
  it('gets work that is already stored', async () => {
    await offerWork('i');
    expect(await poll(startBroker()).over).toBe('i');
    expect(counted).toEqual(['handed_out']);
  });

  it('returns at once without work if it does not wait', async () => {
    expect(await poll(startBroker(), { timeoutMs: 0 }).over).toBeNull();
    expect(clock.pending).toBe(0);
  });

  it('waits for work, and gets it as soon as it is offered', async () => {
    const broker = startBroker();
    const waiting = poll(broker);
    await settled();
    expect(waiting.answer()).toBeUndefined();
    await offerWork('i');
    broker.offered('ship');
    expect(await waiting.over).toBe('i');
    expect(broker.waiting).toBe(0);
  });

  it('returns nothing when its timeout has passed', async () => {
    const waiting = poll(startBroker(), { timeoutMs: 5000 });
    await settled();
    clock.advance(4999);
    await settled();
    expect(waiting.answer()).toBeUndefined();
    clock.advance(1);
    expect(await waiting.over).toBeNull();
  });

  it('is rejected if too many are waiting', async () => {
    const broker = startBroker({ waitersMax: 1 });
    poll(broker);
    await expect(poll(broker).over).rejects.toMatchObject({ code: 'too_many_requests' });
    // A poll that does not wait occupies no slot.
    expect(await poll(broker, { timeoutMs: 0 }).over).toBeNull();
  });

  it('fails if the store is unavailable, and frees its slot', async () => {
    const broker = startBroker();
    isAway = true;
    await expect(poll(broker).over).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(broker.waiting).toBe(0);
  });

  it('is answered when the node stops, and no new one is accepted', async () => {
    const broker = startBroker();
    const waiting = poll(broker);
    await settled();
    await broker.stop();
    expect(await waiting.over).toBeNull();
    await expect(poll(broker).over).rejects.toMatchObject({ code: 'stopping' });
  });
});

describe('each of many polls for one name', () => {
  it('gets one item, and the others keep waiting', async () => {
    const broker = startBroker();
    const polls = Array.from({ length: 5 }, () => poll(broker));
    await settled();
    for (const id of ['i', 'j', 'k']) await offerWork(id);
    broker.offered('ship');
    await settled();
    const answers = polls.map(({ answer }) => answer());
    expect(answers.filter((answer) => answer !== undefined).sort()).toEqual(['i', 'j', 'k']);
    expect(broker.waiting).toBe(2);
  });

  it('shares one store query with the others if there is no work', async () => {
    const broker = startBroker();
    for (let at = 0; at < 8; at += 1) poll(broker);
    await settled();
    claimsAsked = 0;
    broker.offered('ship');
    await settled();
    expect(claimsAsked).toBe(1);
  });

  it('does not get the work of another name', async () => {
    const broker = startBroker();
    const other = poll(broker, { name: 'charge' });
    await offerWork('i');
    broker.offered('ship');
    await settled();
    expect(other.answer()).toBeUndefined();
  });
});

describe('a worker that has disconnected (AC2)', () => {
  it('occupies no slot and gets nothing', async () => {
    const broker = startBroker();
    const gone = poll(broker);
    await settled();
    gone.hangUp();
    expect(await gone.over).toBeNull();
    await offerWork('i');
    expect(await poll(broker).over).toBe('i');
  });

  it('releases an item that it got at the last moment, for the next worker', async () => {
    const broker = startBroker();
    await offerWork('i');
    const gone = poll(broker);
    // The search for work has started.
    expect(claimsAsked).toBe(1);
    gone.hangUp();
    expect(await gone.over).toBeNull();
    expect(await poll(broker).over).toBe('i');
    // Only items that a worker got count as handed out, and this one was not released by a worker.
    expect(counted).toEqual(['handed_out']);
  });
});

const NEW_ITEM = { id: 'i/1/0', name: 'ship', length: 100, needsSlots: false };

describe('an activity created while a worker is waiting', () => {
  it('is created as claimed, and handed out once it is stored (AC1)', async () => {
    const broker = startBroker();
    const waiting = poll(broker);
    await settled();
    const claim = broker.reserve(NEW_ITEM);
    expect(claim).not.toBeNull();
    expect(waiting.answer()).toBeUndefined();
    const activity = { ...work('i'), claim: claim! };
    const side = { ...NO_SIDE, activities: [activity] };
    await store.insertInstance({ record: instanceOf('i'), side });
    broker.created([activity]);
    expect(await waiting.over).toBe('i');
    // No other worker has it.
    expect(await poll(broker, { timeoutMs: 0 }).over).toBeNull();
    // The worker has been answered: releasing its reservation does not make it wait again.
    broker.release('i/1/0');
    await offerWork('j');
    expect(await poll(broker, { timeoutMs: 0 }).over).toBe('j');
  });

  it('leaves the worker waiting if it is not stored', async () => {
    const broker = startBroker();
    const waiting = poll(broker);
    await settled();
    const limited = { ...NEW_ITEM, needsSlots: true };
    broker.reserve(limited);
    broker.refused('i/1/0');
    await settled();
    expect([broker.reserve(limited), waiting.answer()]).toEqual([null, undefined]);
    await offerWork('j');
    broker.offered('ship');
    expect(await waiting.over).toBe('j');
  });

  it('answers a reserved worker whose timeout has passed if nothing was stored', async () => {
    const broker = startBroker();
    const waiting = poll(broker, { timeoutMs: 5000 });
    await settled();
    broker.reserve(NEW_ITEM);
    clock.advance(5000);
    await settled();
    expect(waiting.answer()).toBeUndefined();
    broker.release('i/1/0');
    expect(await waiting.over).toBeNull();
  });

  it('is offered on this and other nodes if no worker was reserved', async () => {
    const broker = startBroker();
    expect(broker.reserve(NEW_ITEM)).toBeNull();
    const activity = await offerWork('i');
    broker.created([activity]);
    expect(hinted).toEqual(['ship']);
    expect(await poll(broker).over).toBe('i');
  });
});

describe('work that this node was not notified of', () => {
  it('is found by the periodic scan while a worker is waiting', async () => {
    const broker = startBroker();
    await broker.start();
    const waiting = poll(broker);
    await settled();
    await offerWork('i');
    clock.advance(2 * SCAN_MS);
    expect(await waiting.over).toBe('i');
    await broker.stop();
  });
});

/** Nothing looks for work from time to time here: only the end of a lease can wake a poll. */
describe('a poll that waits when a lease ends', () => {
  const LEASE_MS = 60_000;

  async function heldItem() {
    await offerWork('i');
    const node = startNode();
    const item = await node.broker.pull({
      name: 'ship',
      workerId: 'w',
      timeoutMs: 0,
      leaseMs: LEASE_MS,
      signal: new AbortController().signal,
    });
    return { ...node, token: item!.token };
  }
  const waiting = (broker: ActivityBroker): Poll => poll(broker, { timeoutMs: 10 * LEASE_MS });

  it('gets the item', async () => {
    const { broker } = await heldItem();
    const next = waiting(broker);
    clock.advance(LEASE_MS - 1);
    await settled();
    expect(next.answer()).toBeUndefined();
    clock.advance(1);
    expect(await next.over).toBe('i');
  });

  it('gets the item at the end to which a heartbeat has extended the lease, after one search', async () => {
    const { broker, claims, token } = await heldItem();
    const next = waiting(broker);
    clock.advance(LEASE_MS / 2);
    await claims.extend(token, null);
    await claims.extend(token, LEASE_MS);
    await settled();
    const before = claimsAsked;
    clock.advance(LEASE_MS - 1);
    await settled();
    expect(next.answer()).toBeUndefined();
    clock.advance(1);
    expect(await next.over).toBe('i');
    expect(claimsAsked - before).toBe(1);
  });

  it('gets the item at the end of a lease that a late heartbeat has revived', async () => {
    const { broker, claims, token } = await heldItem();
    clock.advance(2 * LEASE_MS);
    await claims.extend(token, LEASE_MS);
    const next = waiting(broker);
    await settled();
    expect(next.answer()).toBeUndefined();
    clock.advance(LEASE_MS);
    expect(await next.over).toBe('i');
    await expect(claims.extend(token, LEASE_MS)).rejects.toThrow('does not hold an activity');
  });

  it('gets the item of a lease that another node has granted, and this one extended', async () => {
    const { token } = await heldItem();
    const other = startNode();
    await other.claims.extend(token, 2 * LEASE_MS);
    const next = waiting(other.broker);
    clock.advance(2 * LEASE_MS);
    expect(await next.over).toBe('i');
  });

  it('has no timer left once the item is done or released, or the node stops', async () => {
    for (const end of ['complete', 'release', 'extend'] as const) {
      const { claims, token } = await heldItem();
      expect(clock.pending).toBe(1);
      if (end === 'complete') await claims.complete(token, { succeeded: true, data: null });
      else if (end === 'release') await claims.release(token);
      else await claims.extend(token, null);
      expect(clock.pending).toBe(end === 'extend' ? 1 : 0);
      await claims.stop();
      expect(clock.pending).toBe(0);
      store = createMemoryStore();
    }
  });
});
