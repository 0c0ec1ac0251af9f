/** What one round of the purge removes, however much there is: on the embedded store, which removes in slices. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import {
  Housekeeping,
  type HousekeepingOptions,
} from '../../../src/runtime/housekeeping/housekeeping.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { createSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import { instanceOf, NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

const LONG = 25_000;
const SLICE = 10_000;

it('removes histories of any length in one round, at most 10,000 records at a time', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'stepwright-purge-'));
  const store = createSqliteStore({ path: join(directory, 'store.db') });
  await store.start();
  onTestFinished(async () => {
    await store.stop();
    await rm(directory, { recursive: true });
  });
  const insert = (id: string, length: number) => {
    const record = instanceOf(id, { status: 'Complete', endTime: id === 'young' ? 2 : 1 });
    const history = Array.from({ length }, (_, sequence) => {
      return { instanceId: id, sequence, body: '{}' };
    });
    return store.insertInstance({ record, side: { history, subscriptions: [], activities: [] } });
  };
  await insert('long', LONG);
  await insert('longer', LONG);
  await insert('young', 1);

  const slices: number[] = [];
  const left = async () =>
    (await store.readHistory('long', 0, LONG)).length +
    (await store.readHistory('longer', 0, LONG)).length;
  let before = await left();
  const removed = { count: 0 };
  const housekeeping = createHousekeeping({
    store: {
      ...store,
      purge: async (request) => {
        const result = await store.purge(request);
        const after = await left();
        slices.push(before - after);
        before = after;
        return result;
      },
    },
    metrics: { instancesRemoved: (_, count) => (removed.count += count) },
    isArchivedElsewhere: () => false,
  });
  await housekeeping.purge();

  expect(removed.count).toBe(3);
  expect(slices.reduce((sum, count) => sum + count)).toBe(2 * LONG);
  expect(Math.max(...slices)).toBeLessThanOrEqual(SLICE);
});

it('leaves runs to the node that archives them, if this one does not archive', async () => {
  const store = createMemoryStore();
  const record = instanceOf('ended', { status: 'Complete', endTime: 1 });
  await store.insertInstance({ record, side: NO_SIDE });
  let isArchivedElsewhere = true;
  const housekeeping = createHousekeeping({
    store,
    metrics: { instancesRemoved: () => undefined },
    isArchivedElsewhere: () => isArchivedElsewhere,
  });
  await housekeeping.purge();
  expect(await store.getInstance('ended')).not.toBeNull();
  isArchivedElsewhere = false;
  await housekeeping.purge();
  expect(await store.getInstance('ended')).toBeNull();
});

/** One that only purges, and keeps no ended run. */
function createHousekeeping(
  options: Pick<HousekeepingOptions, 'store' | 'metrics' | 'isArchivedElsewhere'>,
): Housekeeping {
  return new Housekeeping({
    ...options,
    clock: new ManualClock(),
    logger: createLogger({ level: 'fatal' }),
    archive: null,
    isChosen: () => true,
    publisher: null as never,
    results: null as never,
    instanceRetentionMs: -10,
    eventRetentionMs: 1e9,
    repairIntervalMs: 1e9,
    purgeIntervalMs: 1e9,
  });
}
