/**
 * A target that is dead for a day, on a clock that the test moves: it costs the memory of one message, a bounded number of
 * store operations, and none of the time of other targets. When it is back, it gets everything.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { createSeal } from '../../../src/base/seal.js';
import { Deliverer } from '../../../src/runtime/notifications/deliverer.js';
import {
  DeliveryAttempts,
  secretPlace,
} from '../../../src/runtime/notifications/delivery-attempts.js';
import { writeSettings } from '../../../src/runtime/notifications/notification-codec.js';
import { NotificationList } from '../../../src/runtime/notifications/notification-list.js';
import type { StepBody } from '../../../src/step-bodies/step-body.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { observeStore } from '../../../src/store/observed-store.js';
import type { Store } from '../../../src/store/store.js';
import { ManualClock } from '../support/manual-clock.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Until an attempt is given up; the target never answers. */
const TIMEOUT_MS = 10 * SECOND;
const BACKLOG = 2000;

/** What is sent goes to these targets, instead of over a network. */
class Targets implements StepBody {
  isDead = true;
  /** Attempts at the dead target now, and the most at a time since the last reset. */
  open = 0;
  openMax = 0;
  readonly delivered = new Map<string, number>();
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  async run(...[inputs, { idempotencyKey }]: Parameters<StepBody['run']>) {
    if (inputs['BaseUrl'] === urlOf('dead') && this.isDead) {
      this.open += 1;
      this.openMax = Math.max(this.openMax, this.open);
      await new Promise<void>((resolve) => {
        this.#clock.at(this.#clock.now() + TIMEOUT_MS, resolve);
      });
      this.open -= 1;
      return { ok: true, values: { ResponseCode: 0, ErrorMessage: 'timeout' } } as const;
    }
    this.delivered.set(idempotencyKey, this.#clock.now());
    return { ok: true, values: { ResponseCode: 200 } } as const;
  }
}

function urlOf(name: string): string {
  return `https://${name}.example/hook`;
}

describe('a target that is dead for a day', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-dead-target-'));
  const seal = createSeal({ keyFile: path.join(folder, 'sealing-key'), creates: true });
  const clock = new ManualClock();
  const targets = new Targets(clock);
  let store: Store;
  let operations = 0;
  let deliverer: Deliverer;
  let made = 0;

  beforeAll(async () => {
    store = observeStore(createMemoryStore(), {
      after: () => {
        operations += 1;
      },
    });
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    for (const name of ['alive', 'dead']) {
      const sealedSecret = seal.seal(secret, secretPlace(name));
      const settings = writeSettings({
        url: urlOf(name),
        on: ['completed'],
        definitionId: null,
        where: [],
        include: 'summary',
        sealedSecret,
        changedBy: 'ada',
        changedAt: 0,
      });
      await store.putNotification({ name, settings, paused: null });
    }
    const logger = createLogger({ level: 'silent' });
    const notifications = new NotificationList(store);
    const attempts = new DeliveryAttempts({
      store,
      clock,
      logger,
      seal,
      http: targets,
      metrics: { deliveryTried: () => undefined },
      paused: async () => undefined,
    });
    deliverer = new Deliverer({
      store,
      clock,
      logger,
      notifications,
      attempts,
      isShared: () => false,
      mayBeStale: () => false,
    });
    await deliverer.start();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const announce = async (notification: string, count = 1): Promise<readonly string[]> => {
    const now = clock.now();
    const ids = Array.from({ length: count }, () => `d${(made += 1)}`);
    await store.insertDeliveries(
      ids.map((id) => ({
        id,
        notification,
        workflowId: 'w',
        type: 'workflow.completed',
        createdAt: now,
        state: 'waiting' as const,
        attempts: 0,
        dueAt: now,
        since: now,
        endedAt: null,
        answer: null,
        body: '{}',
      })),
    );
    deliverer.wake(notification);
    return ids;
  };
  /** Lets the time pass second by second, and everything that follows happen. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= SECOND) {
      clock.advance(SECOND);
      await setImmediate();
    }
  };
  const countOf = async (state: 'waiting' | 'delivered' | 'failed'): Promise<number> =>
    (await store.listDeliveries({ notification: 'dead', state }, null, 1e6)).length;

  it('costs little, delays no other, and gets everything when it is back', async () => {
    await announce('dead', BACKLOG);
    // The first attempts begin before the lane knows that the target is dead.
    await pass(MINUTE);
    targets.openMax = 0;
    const sent = new Map<string, number>();
    for (let hour = 0; hour < 24; hour += 1) {
      const before = operations;
      for (let minute = 0; minute < 60; minute += 1) {
        await announce('dead');
        for (const id of await announce('alive')) sent.set(id, clock.now());
        await pass(MINUTE);
      }
      // An attempt at a time, each with a claim and a save; two inserts a minute; and the looks of both lanes.
      const attemptsMax = HOUR / TIMEOUT_MS;
      expect(operations - before).toBeLessThan(
        2 * attemptsMax + 120 + 2 * (HOUR / SECOND / 5) + 300,
      );
    }
    expect(targets.openMax).toBe(1);
    expect(targets.delivered.size).toBe(sent.size);
    const delays = [...sent].map(([id, time]) => (targets.delivered.get(id) ?? Infinity) - time);
    expect(Math.max(...delays)).toBeLessThanOrEqual(SECOND);
    expect(await countOf('waiting')).toBe(BACKLOG + 24 * 60);

    targets.isDead = false;
    // The longest pause is eight hours, give or take a fifth.
    await pass(10 * HOUR);
    expect(await countOf('delivered')).toBe(BACKLOG + 24 * 60);
    await deliverer.stop();
  }, 300_000);
});
