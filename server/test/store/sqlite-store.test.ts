/** Goal: the embedded store keeps the contract, on one file that several store objects and processes share. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { describeStore, type StoreFixture } from './conformance.js';
import { commitOf, instanceOf, NO_SIDE } from './records.js';

/** The real threads that were started, so that a case can end one. */
const threads = vi.hoisted((): Worker[] => []);
vi.mock(import('../../src/store/sqlite/start-thread.js'), async (importOriginal) => {
  const { startThread } = await importOriginal();
  return {
    startThread: (options) => {
      const thread = startThread(options);
      threads.push(thread);
      return thread;
    },
  };
});

const directory = await mkdtemp(join(tmpdir(), 'stepwright-store-'));
afterAll(() => rm(directory, { recursive: true }));

describeStore('the SQLite store', async (): Promise<StoreFixture> => {
  const path = join(directory, 'conformance.db');
  const store = createSqliteStore({ path });
  await store.start();
  const other = createSqliteStore({ path });
  // A third writer beside the two threads: it empties the tables, which is much faster than new files.
  const connection = new DatabaseSync(path, { timeout: 5000 });
  const tables = connection.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all();
  return {
    store,
    open: async () => {
      await other.start();
      return other;
    },
    strayTerms: () => {
      const stray =
        'SELECT COUNT(*) AS n FROM terms WHERE instanceId NOT IN (SELECT id FROM instances)';
      return Promise.resolve(Number(connection.prepare(stray).get()?.['n']));
    },
    clear: () => {
      const deletions = tables.map(({ name }) => `DELETE FROM ${String(name)};`);
      connection.exec(`BEGIN IMMEDIATE; ${deletions.join(' ')} COMMIT`);
      return Promise.resolve();
    },
    close: async () => {
      connection.close();
      await Promise.all([store.stop(), other.stop()]);
    },
  };
});

describe('createSqliteStore', () => {
  let files = 0;
  const newPath = (): string => {
    files += 1;
    return join(directory, 'new', `${files}.db`);
  };
  const insert = (store: Store, id: string) =>
    store.insertInstance({ record: instanceOf(id), side: NO_SIDE });

  async function withStore(
    options: { readonly path: string; readonly busyTimeoutMs?: number },
    use: (store: Store) => Promise<void>,
  ): Promise<void> {
    const store = createSqliteStore(options);
    await store.start();
    try {
      await use(store);
    } finally {
      await store.stop();
    }
  }

  it('creates the directory and the file, and finds its content after a restart', async () => {
    const path = newPath();
    await withStore({ path }, async (store) => {
      await insert(store, 'i');
      await store.postMessages([{ instanceId: 'i', message: { id: 'm', body: 'text' } }]);
    });
    await withStore({ path }, async (store) => {
      expect(await store.getInstance('i')).toMatchObject({ inbox: [{ id: 'm', body: 'text' }] });
    });
  });

  it('finds its content after stop and start of the same object', async () => {
    const store = createSqliteStore({ path: newPath() });
    await store.stop();
    await store.start();
    await store.start();
    await insert(store, 'i');
    await store.stop();
    await store.stop();
    await expect(store.ping()).rejects.toThrow(StoreUnavailableError);
    await store.start();
    expect(await store.getInstance('i')).not.toBeNull();
    await store.stop();
  });

  it('answers pending calls before it stops', async () => {
    const store = createSqliteStore({ path: newPath() });
    await store.start();
    const answers = Promise.all(Array.from({ length: 100 }, (_, n) => insert(store, `i${n}`)));
    await store.stop();
    expect((await answers).every(({ outcome }) => outcome === 'inserted')).toBe(true);
  });

  it('syncs every commit, in a write-ahead log', async () => {
    const path = newPath();
    await withStore({ path }, async () => {
      const connection = new DatabaseSync(path);
      expect(connection.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
      connection.close();
    });
  });

  it('rejects a file of a newer server version with a clear message', async () => {
    const path = newPath();
    await withStore({ path }, async (store) => {
      await insert(store, 'i');
    });
    const connection = new DatabaseSync(path);
    connection.exec('PRAGMA user_version = 99');
    connection.close();
    await expect(createSqliteStore({ path }).start()).rejects.toThrow(
      /written by a newer version of the server \(schema 99, this server knows up to \d+\)/,
    );
  });

  it("rejects a file that isn't a database", async () => {
    const path = join(directory, 'text.db');
    await writeFile(path, 'This is a text file that somebody put here by mistake. '.repeat(200));
    const start = createSqliteStore({ path }).start();
    await expect(start).rejects.toThrow(StoreUnavailableError);
    await expect(start).rejects.toThrow('The file is not a database');
  });

  it('waits for another writing process and then fails, while reads continue', async () => {
    const path = newPath();
    await withStore({ path, busyTimeoutMs: 300 }, async (store) => {
      await insert(store, 'before');
      const connection = new DatabaseSync(path);
      connection.exec('BEGIN IMMEDIATE');
      const refused = insert(store, 'refused');
      await expect(refused).rejects.toThrow(StoreUnavailableError);
      await expect(refused).rejects.toThrow('in use by another process');
      expect(await store.getInstance('before')).not.toBeNull();
      const batch = await Promise.allSettled([
        insert(store, 'also refused'),
        store.getInstance('before'),
      ]);
      expect(batch.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
      connection.exec('COMMIT');
      connection.close();
      expect((await insert(store, 'refused')).outcome).toBe('inserted');
    });
  });

  it('carries out the rest of a batch if one operation fails', async () => {
    await withStore({ path: newPath() }, async (store) => {
      await insert(store, 'i');
      const broken = { ...instanceOf('broken'), version: undefined as unknown as number };
      const side = {
        ...NO_SIDE,
        subscriptions: [{ id: 's', instanceId: 'broken', nameKey: 'k', effectiveAt: 0 }],
      };
      const results = await Promise.allSettled([
        insert(store, 'first'),
        store.insertInstance({ record: broken, side }),
        store.commitInstance(commitOf(instanceOf('i'))),
        insert(store, 'last'),
      ]);
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ]);
      // The failed one left nothing, and the others were carried out once.
      expect(await store.findSubscriptions('k', 9, null, 5)).toEqual([]);
      expect((await store.getInstance('i'))?.revision).toBe(2);
      expect(await store.getInstance('first')).not.toBeNull();
      expect(await store.getInstance('last')).not.toBeNull();
    });
  });

  it('yields to the event loop while many responses resume busy callers', async () => {
    await withStore({ path: newPath() }, async (store) => {
      await insert(store, 'i');
      const state = { turns: 0, areAnswered: false };
      const turn = () => {
        state.turns += 1;
        if (!state.areAnswered) setImmediate(turn);
      };
      const work = (record: unknown) => {
        const end = performance.now() + 0.5;
        while (performance.now() < end);
        return record;
      };
      // One list of requests gives one list of replies.
      const [first, ...others] = Array.from({ length: 400 }, () =>
        store.getInstance('i').then(work),
      );
      await first;
      turn();
      expect((await Promise.all(others)).every((record) => record !== null)).toBe(true);
      state.areAnswered = true;
      expect(state.turns).toBeGreaterThan(5);
    });
  });

  it("rejects values that can't be sent to the thread, and continues", async () => {
    await withStore({ path: newPath() }, async (store) => {
      const notData = (() => 'a function') as unknown as string;
      await expect(store.getInstance(notData)).rejects.toThrow(/could not be cloned/);
      expect((await insert(store, 'i')).outcome).toBe('inserted');
    });
  });

  it('fails pending calls when its thread ends, and starts another thread for the next call', async () => {
    await withStore({ path: newPath() }, async (store) => {
      await insert(store, 'i');
      const asked = Promise.allSettled([insert(store, 'a'), store.getInstance('i')]);
      await threads.at(-1)?.terminate();
      for (const result of await asked) {
        if (result.status === 'rejected') {
          expect(result.reason).toBeInstanceOf(StoreUnavailableError);
        }
      }
      expect(await store.getInstance('i')).not.toBeNull();
      expect((await insert(store, 'b')).outcome).toBe('inserted');
    });
  });
});
