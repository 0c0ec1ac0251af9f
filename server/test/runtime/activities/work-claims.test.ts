/**
 * Claims on work items, on a real store and a clock that the tests move. A dead node is a `WorkClaims` whose clock
 * stands still forever: none of its timers fires again.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import type { LogFields, Logger } from '../../../src/base/logger.js';
import type { Clock } from '../../../src/base/clock.js';
import { writeWork } from '../../../src/runtime/instance-state/message-codec.js';
import { Secrets } from '../../../src/runtime/secrets/secrets.js';
import { NO_SECRETS } from '../../../src/secrets/secret-source.js';
import type { WorkItem } from '../../../src/runtime/activities/activity-types.js';
import { WorkClaims } from '../../../src/runtime/activities/work-claims.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { observeStore } from '../../../src/store/observed-store.js';
import { FAR_FUTURE_MS, StoreUnavailableError, type Store } from '../../../src/store/store.js';
import { activityOf, instanceOf, NO_SIDE } from '../../store/records.js';
import { systemIds } from '../../../src/base/ids.js';

class TestClock implements Clock {
  #now = 10_000;
  readonly #timers = new Set<{ readonly time: number; readonly callback: () => void }>();

  now(): number {
    return this.#now;
  }

  at(time: number, callback: () => void): () => void {
    const timer = { time, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Also lets everything happen that the timers started. */
  async pass(ms: number): Promise<void> {
    this.#now += ms;
    for (const timer of [...this.#timers]) {
      if (timer.time > this.#now) continue;
      this.#timers.delete(timer);
      timer.callback();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const ignore = (): void => undefined;
const WORK = writeWork({ stepId: 's', attempt: 1, parameters: { amount: 5 } });
const DAYS_MS = 86_400_000;

let store: Store;
let calls: string[];
let isAway: boolean;
let logged: LogFields[];

const logger: Logger = {
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  fatal: ignore,
  error: (fields: LogFields | string) => void logged.push(typeof fields === 'string' ? {} : fields),
  child: () => logger,
};

beforeEach(() => {
  calls = [];
  isAway = false;
  logged = [];
  store = observeStore(createMemoryStore(), {
    before: ({ name }) => {
      calls.push(name);
      if (isAway) throw new StoreUnavailableError('away');
    },
  });
});

function startNode(bindsLeases = true) {
  const clock = new TestClock();
  const posted: string[] = [];
  const claims = new WorkClaims({
    lookAtLimits: () => undefined,
    claimRefused: () => undefined,
    leaseMsMax: 86_400_000,
    bindsLeases: () => bindsLeases,
    store,
    clock,
    ids: systemIds,
    logger,
    metrics: { activity: ignore },
    secrets: new Secrets({ source: NO_SECRETS, store, ids: systemIds }),
    claimer: () => undefined,
    posted: ({ instanceId }) => void posted.push(instanceId),
    offer: ignore,
  });
  const take = async (leaseMs: number | null = null) =>
    (await claims.take('ship', { workerId: 'w', leaseMs }, ANY_LENGTH)) as WorkItem | null;
  return { clock, claims, posted, take };
}

async function offer(id: string, parameters = WORK): Promise<void> {
  const activities = [activityOf(`${id}/1/0`, id, { parameters })];
  await store.insertInstance({ record: instanceOf(id), side: { ...NO_SIDE, activities } });
}

const ANY_LENGTH = Number.MAX_SAFE_INTEGER;
const DONE = { succeeded: true, data: null };

describe('a work item handed out without a lease', () => {
  it('is never released, as its worker was promised', async () => {
    await offer('i');
    const { claims, clock, take } = startNode();
    const item = await take();
    expect(item).toMatchObject({ tokenExpiresAt: null, stepId: 's', parameters: { amount: 5 } });
    await clock.pass(1000);
    await clock.pass(1000 * DAYS_MS);
    expect(await take()).toBeNull();
    await claims.complete(item!.token, DONE);
  });

  it('goes to another worker if the node dies before the response could have been sent', async () => {
    await offer('i');
    const lost = await startNode().take();
    const heir = startNode();
    await heir.clock.pass(29_000);
    expect(await heir.take()).toBeNull();
    await heir.clock.pass(1000);
    const item = await heir.take();
    expect(item).toMatchObject({ attempt: 2, tokenExpiresAt: null });
    await expect(heir.claims.complete(lost!.token, DONE)).rejects.toThrow(
      'does not hold an activity',
    );
    await heir.claims.complete(item!.token, DONE);
  });

  it('stays with its worker if the node shuts down right away', async () => {
    await offer('i');
    const { claims, take } = startNode();
    const item = await take();
    await claims.stop();
    const heir = startNode();
    await heir.clock.pass(DAYS_MS);
    expect(await heir.take()).toBeNull();
    await heir.claims.complete(item!.token, DONE);
  });

  it('is secured as soon as an unavailable store is back', async () => {
    await offer('i');
    const { clock, take } = startNode();
    await take();
    isAway = true;
    for (let second = 0; second < 100; second += 1) await clock.pass(1000);
    isAway = false;
    await clock.pass(1000);
    await clock.pass(DAYS_MS);
    expect(await take()).toBeNull();
  });

  it('needs no further store call if the work is done quickly', async () => {
    await offer('i');
    const { claims, clock, take } = startNode();
    const item = await take();
    await claims.complete(item!.token, DONE);
    expect(clock.timers).toBe(0);
    await clock.pass(DAYS_MS);
    expect(calls).toEqual(['insertInstance', 'claimActivity', 'completeActivity']);
  });

  it('is made permanent together with others, with one call of the store', async () => {
    for (const id of ['a', 'b', 'c', 'd']) await offer(id);
    const { clock, take } = startNode();
    await take();
    await clock.pass(400);
    await Promise.all([take(), take()]);
    await clock.pass(300);
    await take();
    await clock.pass(300);
    expect(calls.filter((name) => name === 'keepClaims')).toHaveLength(1);
    const items = await store.getActivities(['a', 'b', 'c', 'd'].map((id) => `${id}/1/0`));
    const kept = items.filter(({ availableAt }) => availableAt === FAR_FUTURE_MS);
    expect(kept.map(({ instanceId }) => instanceId).toSorted()).toEqual(['a', 'b', 'c']);
    await clock.pass(700);
    expect(calls.filter((name) => name === 'keepClaims')).toHaveLength(2);
    expect(clock.timers).toBe(0);
  });

  it('has the lease that its worker requests later', async () => {
    await offer('i');
    const { claims, clock, take } = startNode();
    const item = await take();
    expect(await claims.extend(item!.token, 60_000)).toMatchObject({ tokenExpiresAt: 70_000 });
    await clock.pass(59_000);
    expect(await take()).toBeNull();
    await clock.pass(1000);
    expect(await take()).toMatchObject({ attempt: 2 });
  });

  it('is still secured if the store could not store the result', async () => {
    await offer('i');
    const { claims, clock, take } = startNode();
    const item = await take();
    isAway = true;
    await expect(claims.complete(item!.token, DONE)).rejects.toThrow(StoreUnavailableError);
    isAway = false;
    await clock.pass(1000);
    await clock.pass(DAYS_MS);
    expect(await take()).toBeNull();
    await claims.complete(item!.token, DONE);
  });

  it('is no longer held by a node that learns late that another node released it', async () => {
    await offer('i');
    const first = startNode();
    const item = await first.take();
    const second = startNode();
    await second.claims.release(item!.token);
    await first.clock.pass(1000);
    expect(await second.take()).toMatchObject({ attempt: 2 });
    await first.clock.pass(1000);
    await expect(first.claims.complete(item!.token, DONE)).rejects.toThrow(
      'does not hold an activity',
    );
  });
});

describe('a work item with a lease', () => {
  it('is released when the lease expires', async () => {
    await offer('i');
    const { clock, take } = startNode();
    expect(await take(5000)).toMatchObject({ tokenExpiresAt: 15_000 });
    await clock.pass(4999);
    expect(await take(5000)).toBeNull();
    await clock.pass(1);
    expect(await take(5000)).toMatchObject({ attempt: 2 });
  });
});

describe('a work item that cannot be read', () => {
  it.each([
    '',
    'x',
    'null',
    '[]',
    '7',
    '{}',
    '{"stepId":1,"attempt":1,"parameters":1}',
    '{"stepId":"s","attempt":"1","parameters":1}',
    '{"stepId":"s","attempt":1}',
    '{"__proto__":{"stepId":"s","attempt":1,"parameters":1}}',
  ])('fails its step, and the next one is handed out: %j', async (parameters) => {
    await offer('a-bad', parameters);
    await offer('b-bad', parameters);
    await offer('good');
    const { posted, take } = startNode();
    expect(await take()).toMatchObject({ workflowId: 'good' });
    expect(posted).toEqual(['a-bad', 'b-bad']);
    expect(logged).toMatchObject([{ workflowId: 'a-bad' }, { workflowId: 'b-bad' }]);
    const { inbox } = (await store.getInstance('a-bad'))!;
    expect(inbox.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      {
        kind: 'activity',
        activityId: 'a-bad/1/0',
        succeeded: false,
        data: 'the stored parameters of the activity cannot be read',
      },
    ]);
    expect(await take()).toBeNull();
  });

  it('fails its step later if the store is unavailable in between', async () => {
    await offer('bad', 'x');
    const { clock, take } = startNode();
    const taking = take();
    // The claim is in progress; the next operation is not.
    isAway = true;
    await expect(taking).rejects.toThrow(StoreUnavailableError);
    isAway = false;
    await clock.pass(30_000);
    expect(await take()).toBeNull();
    expect((await store.getInstance('bad'))!.inbox).toHaveLength(1);
  });
});

describe('the lease in a token', () => {
  it('is bound to it, unless a node of an earlier version shares the work', async () => {
    await offer('i');
    await offer('j');
    const bound = await startNode().take(5000);
    expect(bound!.token).toMatch(/\.L5$/);
    const { claims, clock, take } = startNode(false);
    const { token } = (await take(5000))!;
    // As nodes of the earlier version read it.
    expect(token).toMatch(/^[\w-]+\.[\w-]{22}\.5$/);
    const forged = token.replace(/5$/, '999999999');
    const { tokenExpiresAt } = await claims.extend(forged, null);
    expect(tokenExpiresAt).toBe(clock.now() + 86_400_000);
  });
});
