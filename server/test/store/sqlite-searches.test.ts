/** Goal: on the embedded store, searches delay nothing else (SQ5), see all that was answered, and read no long values. */
import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LISTED_DATA_LENGTH_MAX } from '../../src/store/records/events.js';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../src/store/store.js';
import { eventOf, instanceOf, NO_SIDE } from './records.js';

const SEARCHES = 1000;
const directory = await mkdtemp(join(tmpdir(), 'stepwright-searches-'));
afterAll(() => rm(directory, { recursive: true }));

/** Bytes that the process has read so far, from files, sockets and pipes. */
function bytesRead(): number {
  return Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

describe('searches of the SQLite store', () => {
  let files = 0;
  let path: string;
  let store: Store;

  beforeEach(async () => {
    files += 1;
    path = join(directory, `${files}.db`);
    store = createSqliteStore({ path });
    await store.start();
  });
  afterEach(() => store.stop());

  const insert = (id: string) => store.insertInstance({ record: instanceOf(id), side: NO_SIDE });
  const count = async () =>
    (await store.countInstances({ filter: {}, after: null, max: 10_000 })).count;

  it('delays no write and no point read', async () => {
    for (let at = 0; at < 20; at += 1) await insert(`before-${at}`);
    let ended = 0;
    const searches = Array.from({ length: SEARCHES }, () => count().then(() => (ended += 1)));
    // The thread is at work.
    await searches[0];
    await insert('new');
    expect((await store.getInstance('new'))?.id).toBe('new');
    expect(ended).toBeLessThan(SEARCHES / 2);
    await Promise.all(searches);
  });

  it('sees every write that was acknowledged before', async () => {
    for (let inserted = 1; inserted <= 100; inserted += 1) {
      await insert(`i-${inserted}`);
      expect(await count()).toBe(inserted);
    }
  });

  it('sees one snapshot while others write', async () => {
    const inserts = Array.from({ length: 300 }, (_, at) => insert(`i-${at}`));
    const over = new AbortController();
    void Promise.all(inserts).then(() => over.abort());
    let before = 0;
    while (!over.signal.aborted) {
      const found = await store.listInstances({ filter: {}, after: null, limit: 500 });
      expect(new Set(found.items.map(({ id }) => id)).size).toBe(found.items.length);
      expect(found.items.length).toBeGreaterThanOrEqual(before);
      before = found.items.length;
    }
    expect(await count()).toBe(300);
  });

  it('reports its own error, and later searches work', async () => {
    const wrong = { filter: {}, after: null, limit: 'many' } as unknown as { limit: number };
    const asked = store.listInstances({ filter: {}, after: null, ...wrong });
    await expect(asked).rejects.toThrow('mismatch');
    expect(await count()).toBe(0);
  });

  it('reads no long event data for a list', { timeout: 60_000 }, async () => {
    const length = 900_000;
    const kept = JSON.stringify('ü'.repeat(LISTED_DATA_LENGTH_MAX - 2));
    const left = JSON.stringify('ü'.repeat(LISTED_DATA_LENGTH_MAX - 1));
    await store.insertEvent(eventOf('kept', { publishedAt: 1, data: kept }));
    await store.insertEvent(eventOf('left', { publishedAt: 2, data: left }));
    for (let at = 0; at < 20; at += 1) {
      const data = JSON.stringify('x'.repeat(length));
      await store.insertEvent(eventOf(`long-${at}`, { publishedAt: 10 + at, data }));
    }
    await store.stop();
    // Its pages are in no cache yet.
    await store.start();
    await count();
    const before = bytesRead();
    const listed = await store.listEvents({ nameKey: null, before: null, limit: 100 });
    expect(bytesRead() - before).toBeLessThan(2 * length);
    expect(listed).toHaveLength(22);
    const data = new Map(listed.map((event) => [event.id, event.data]));
    expect([data.get('kept'), data.get('left'), data.get('long-3')]).toEqual([kept, null, null]);
  });
});
