/** Goal: a node knows the notifications that other nodes have changed, and reads them no more often than it must. */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { Deliverer } from '../../../src/runtime/notifications/deliverer.js';
import { NotificationList } from '../../../src/runtime/notifications/notification-list.js';
import { createLogger } from '../../../src/base/logger.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { observeStore } from '../../../src/store/observed-store.js';
import { StoreUnavailableError } from '../../../src/store/store.js';
import { ManualClock } from '../support/manual-clock.js';

let reads: number;
let isAway: boolean;
let clock: ManualClock;

beforeEach(() => {
  reads = 0;
  isAway = false;
  clock = new ManualClock();
});

async function startDeliverer(fleet: { isShared: boolean; mayBeStale: boolean }) {
  const store = observeStore(createMemoryStore(), {
    before: ({ name }) => {
      if (name !== 'listNotifications') return;
      reads += 1;
      if (isAway) throw new StoreUnavailableError('away');
    },
  });
  const deliverer = new Deliverer({
    store,
    clock,
    logger: createLogger({ level: 'silent' }),
    notifications: new NotificationList(store),
    attempts: { make: () => Promise.reject(new Error('nothing is due')) },
    isShared: () => fleet.isShared,
    mayBeStale: () => fleet.mayBeStale,
  });
  await deliverer.start();
  return deliverer;
}

async function passSeconds(count: number): Promise<void> {
  for (let second = 0; second < count; second += 1) {
    clock.advance(1000);
    await setImmediate();
  }
}

describe('the list of notifications on a node', () => {
  it.each([
    ['every second while it is not notified of changes', true, true, 60],
    ['every few seconds while it is notified of changes', true, false, 12],
    ['rarely on a single node', false, false, 2],
  ])('is read %s', async (_, isShared, mayBeStale, expected) => {
    const deliverer = await startDeliverer({ isShared, mayBeStale });
    await passSeconds(1);
    reads = 0;
    await passSeconds(60);
    expect(reads).toBe(expected);
    await deliverer.stop();
  });

  it('is read at once when another node has changed one, and again if that fails', async () => {
    const deliverer = await startDeliverer({ isShared: true, mayBeStale: false });
    await passSeconds(1);
    reads = 0;
    isAway = true;
    deliverer.refreshSoon();
    await expect.poll(() => reads).toBe(1);
    isAway = false;
    await passSeconds(2);
    expect(reads).toBe(2);
    await deliverer.stop();
  });
});
