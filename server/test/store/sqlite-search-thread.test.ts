/** Goal: the thread of searches uses memory only while there are searches, and none of them notices its end. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { instanceOf, NO_SIDE } from './records.js';

const directory = await mkdtemp(join(tmpdir(), 'stepwright-search-thread-'));
afterAll(() => rm(directory, { recursive: true }));

describe('the thread of searches', () => {
  let files = 0;
  let path: string;
  let store: Store;
  let started: number;
  let running: number;

  const note = (worker: Worker): void => {
    started += 1;
    running += 1;
    worker.once('exit', () => (running -= 1));
  };
  const open = async (searchIdleMs: number): Promise<void> => {
    store = createSqliteStore({ path, searchIdleMs });
    await store.start();
  };
  const count = async (): Promise<number> =>
    (await store.countInstances({ filter: {}, after: null, max: 10_000 })).count;

  beforeEach(() => {
    files += 1;
    path = join(directory, `${files}.db`);
    started = running = 0;
    process.on('worker', note);
  });
  afterEach(async () => {
    await store.stop();
    process.off('worker', note);
    expect(running).toBe(0);
  });

  it('starts with the first search, ends without any, and starts again', async () => {
    await open(1);
    await store.insertInstance({ record: instanceOf('a'), side: NO_SIDE });
    expect(started).toBe(1);
    expect(await count()).toBe(1);
    expect(started).toBe(2);
    await vi.waitFor(() => expect(running).toBe(1), { timeout: 20_000 });
    expect(await count()).toBe(1);
    expect(started).toBe(3);
  });

  it('stays while there are searches', async () => {
    await open(60_000);
    for (let searches = 0; searches < 50; searches += 1) await count();
    expect(started).toBe(2);
    expect(running).toBe(2);
  });

  it('answers every search, however close to its end', async () => {
    await open(0);
    // Waits of all lengths, until enough of them have met a thread that was about to end.
    for (let searches = 0; searches < 60 || started < 6; searches += 1) {
      expect(await Promise.all([count(), count()])).toEqual([0, 0]);
      for (let turns = 0; turns < searches % 32; turns += 1) await new Promise(setImmediate);
    }
  });

  it('has ended when the store has stopped, which then leaves a single file', async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      await open(0);
      await count();
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      await store.stop();
      expect(running).toBe(0);
      expect(existsSync(`${path}-wal`)).toBe(false);
    }
  });
});
