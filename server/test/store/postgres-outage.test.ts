/**
 * Goal: if a database is unavailable, hangs, comes back, or becomes read-only, operations fail with
 * StoreUnavailableError in time, and nothing is lost.
 * Method: separate containers are paused, killed, stopped and started under the store.
 */
import { setTimeout } from 'node:timers/promises';
import { getContainerRuntimeClient } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createPostgresStore,
  type PostgresStoreOptions,
} from '../../src/store/postgres/postgres-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import {
  postgresForTests,
  runOn,
  startPostgresContainer,
  type PostgresContainer,
} from '../support/postgres-container.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from './records.js';

const GIVES_UP_WITHIN_MS = 5000;
const BACK = { timeout: 60_000 };
const SLOW = { timeout: 120_000 };

async function failure(operation: Promise<unknown>): Promise<{ error: unknown; afterMs: number }> {
  const startedAt = performance.now();
  const error = await operation.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, afterMs: performance.now() - startedAt };
}

const opened: Store[] = [];
afterAll(() => Promise.all(opened.map((store) => store.stop())));

async function open(url: string, options: Partial<PostgresStoreOptions> = {}): Promise<Store> {
  const store = createPostgresStore({ url, ...options });
  opened.push(store);
  await store.start();
  return store;
}

describe('createPostgresStore without a server', () => {
  it('fails to start within the time limit, with a plain message that contains no password', async () => {
    const store = createPostgresStore({ url: 'postgres://user:secret@127.0.0.1:1/x' });
    const { error, afterMs } = await failure(store.start());
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(String(error)).toContain('127.0.0.1:1');
    expect(String(error)).not.toContain('secret');
    expect(afterMs).toBeLessThan(GIVES_UP_WITHIN_MS);
    await store.stop();
  });
});

const startsContainers =
  (process.env['TEST_POSTGRES'] ?? '') === '' && (await postgresForTests()) !== null;

describe.skipIf(!startsContainers)('createPostgresStore with a failing server', SLOW, () => {
  let server: PostgresContainer;
  /** The same container, for actions that Testcontainers does not support. */
  let docker: Record<'pause' | 'unpause' | 'kill' | 'start', () => Promise<unknown>>;
  let url: string;
  beforeAll(async () => {
    server = await startPostgresContainer({ keepsPort: true });
    const runtime = await getContainerRuntimeClient();
    docker = runtime.container.getById(server.container.getId());
    ({ url } = server);
  });
  afterAll(() => server.container.stop());
  /** After it was killed. */
  const startAgain = async (): Promise<void> => {
    await docker.start();
    const answers = (): Promise<boolean> =>
      runOn(url, 'SELECT 1').then(
        () => true,
        () => false,
      );
    await expect.poll(answers, BACK).toBe(true);
  };

  it('gives up within the time limit while the server hangs, and works again afterwards', async () => {
    const store = await open(url);
    await store.insertInstance({ record: instanceOf('hang'), side: NO_SIDE });
    await docker.pause();
    const failures = await Promise.all([
      failure(store.getInstance('hang')),
      failure(store.commitInstance(commitOf(instanceOf('hang'), { revision: 1 }))),
      failure(store.ping()),
    ]);
    await docker.unpause();
    for (const { error, afterMs } of failures) {
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(afterMs).toBeLessThan(GIVES_UP_WITHIN_MS);
    }
    // Unknown until it is read back (rule S5): the commit was never sent, or arrives now. A later one wins in any case.
    await expect
      .poll(async () => {
        const record = await store.getInstance('hang').catch(() => null);
        if (record === null) return null;
        const later = commitOf(record, { revision: record.revision, state: 'later' });
        return store.commitInstance(later).catch(() => null);
      }, BACK)
      .toBe('committed');
    expect((await store.getInstance('hang'))?.state).toBe('later');
  });

  it('releases an item if the response to its claim came too late', async () => {
    const store = await open(url);
    await store.insertInstance({
      record: instanceOf('late'),
      side: { ...NO_SIDE, activities: [activityOf('late/1/0', 'late', { name: 'late' })] },
    });
    const claim = (worker: string) =>
      store.claimActivity({ name: 'late', now: 2000, claim: claimBy(worker), deferMs: 1000 });
    await docker.pause();
    const { error } = await failure(claim('nobody'));
    expect(error).toBeInstanceOf(StoreUnavailableError);
    await docker.unpause();
    await expect
      .poll(async () => (await claim('somebody').catch(() => null))?.workerId, BACK)
      .toBe('somebody');
  });

  it('stops within the time limit while the server hangs', async () => {
    const store = await open(url);
    await store.insertInstance({ record: instanceOf('stop'), side: NO_SIDE });
    await docker.pause();
    const startedAt = performance.now();
    await store.stop();
    const tookMs = performance.now() - startedAt;
    await docker.unpause();
    expect(tookMs).toBeLessThan(GIVES_UP_WITHIN_MS);
  });

  it('closes connections to a server that became read-only, and uses it again later', async () => {
    const store = await open(url);
    const set = async (value: string): Promise<void> => {
      await runOn(url, `ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await runOn(url, 'SELECT pg_reload_conf()');
    };
    await set('on');
    await expect
      .poll(() => failure(store.removeNode('x')).then(({ error }) => error), BACK)
      .toBeInstanceOf(StoreUnavailableError);
    await set('off');
    await expect
      .poll(() => failure(store.removeNode('x')).then(({ error }) => error), BACK)
      .toBeNull();
  });

  it('switches to the writable host of its address', async () => {
    const second = await startPostgresContainer();
    try {
      const hosts = [url, second.url].map((each) => new URL(each).host).join(',');
      const both = `postgres://stepwright:secret@${hosts}/stepwright`;
      // Both have tables; only the second one has the instance.
      await open(second.url).then((store) =>
        store.insertInstance({ record: instanceOf('second'), side: NO_SIDE }),
      );
      const store = await open(both);
      expect(await store.getInstance('second')).toBeNull();
      await docker.kill();
      await expect
        .poll(async () => (await store.getInstance('second').catch(() => null))?.id, BACK)
        .toBe('second');
      await store.stop();
    } finally {
      await startAgain();
      await second.container.stop();
    }
  });

  it('loses no acknowledged write when the server is killed under load and restarted', async () => {
    const store = await open(url);
    const acknowledged: string[] = [];
    let isOver = false;
    const write = async (writer: number): Promise<void> => {
      for (let each = 0; !isOver; each += 1) {
        const id = `kill-${writer}-${each}`;
        const inserted = await store
          .insertInstance({ record: instanceOf(id), side: NO_SIDE })
          .catch(() => null);
        if (inserted !== null) acknowledged.push(id);
        else await setTimeout(50);
      }
    };
    const writers = Promise.all(Array.from({ length: 8 }, (_unused, writer) => write(writer)));
    await expect.poll(() => acknowledged.length, BACK).toBeGreaterThan(200);
    await docker.kill();
    const before = acknowledged.length;
    await startAgain();
    await expect.poll(() => acknowledged.length, BACK).toBeGreaterThan(before + 100);
    isOver = true;
    await writers;
    for (const id of acknowledged) expect((await store.getInstance(id))?.id).toBe(id);
  });

  it('fails within the time limit when the server is gone', async () => {
    const store = await open(url);
    await docker.kill();
    const operations = [
      () => store.ping(),
      () => store.getInstance('x'),
      () => store.removeNode('x'),
    ];
    for (const operation of operations) {
      const { error, afterMs } = await failure(operation());
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(afterMs).toBeLessThan(GIVES_UP_WITHIN_MS);
    }
    // After a while, only one keeps searching for the server. The others do not wait for it.
    const firstToFail = (): Promise<string> =>
      Promise.race([
        failure(store.getInstance('x')).then(() => 'the one that looks'),
        failure(store.ping()).then(() => 'the others'),
      ]);
    await expect.poll(firstToFail, BACK).toBe('the others');
    await startAgain();
    await expect.poll(() => failure(store.ping()).then(({ error }) => error), BACK).toBeNull();
  });
});
