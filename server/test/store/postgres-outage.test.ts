/**
 * Goal: if a database is unavailable, hangs, comes back, or becomes read-only, operations fail with
 * StoreUnavailableError in time, and nothing is lost.
 * Method: separate containers are paused, killed, stopped and started under the store.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createPostgresStore,
  type PostgresStoreOptions,
} from '../../src/store/postgres/postgres-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { postgresForTests, runOn, startPostgresContainer } from '../support/postgres-container.js';
import {
  dockerContainerOf,
  type DockerContainer,
  type ServerContainer,
} from '../support/shared-server.js';
import { startTestPooler } from '../postgres/support/test-pooler.js';
import { instanceOf, NO_SIDE } from './records.js';
import {
  BACK,
  expectQuickFailures,
  expectRefusedStart,
  failure,
  testHangingServer,
} from './support/outages.js';

const GIVES_UP_WITHIN_MS = 5000;
const SLOW = { timeout: 120_000 };

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
    await expect(store.start()).rejects.toThrow('127.0.0.1:1');
    await expectRefusedStart(store, GIVES_UP_WITHIN_MS);
  });
});

const startsContainers =
  (process.env['TEST_POSTGRES'] ?? '') === '' && (await postgresForTests()) !== null;

describe.skipIf(!startsContainers)('createPostgresStore with a failing server', SLOW, () => {
  let server: ServerContainer;
  let docker: DockerContainer;
  let url: string;
  beforeAll(async () => {
    server = await startPostgresContainer({ keepsPort: true });
    docker = await dockerContainerOf(server.container);
    ({ url } = server);
  });
  afterAll(() => server.container.stop());
  const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
    await runOn(url, `ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await runOn(url, 'SELECT pg_reload_conf()');
  };
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

  testHangingServer({
    open: () => open(url),
    docker: () => docker,
    givesUpWithinMs: GIVES_UP_WITHIN_MS,
  });

  it('closes connections to a server that became read-only, and uses it again later', async () => {
    const store = await open(url);
    await setReadOnly('on');
    await expect
      .poll(() => failure(store.removeNode('x')).then(({ error }) => error), BACK)
      .toBeInstanceOf(StoreUnavailableError);
    await setReadOnly('off');
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

  it('drops all connections to a server that became read-only behind a pooler', async () => {
    const second = await startPostgresContainer();
    const poolers = [
      await startTestPooler(new URL(url), 'refuses'),
      await startTestPooler(new URL(second.url), 'refuses'),
    ];
    const hosts = poolers.map(({ host }) => host).join(',');
    const both = `postgres://stepwright:secret@${hosts}/stepwright`;
    const readMany = async (store: Store): Promise<readonly (string | undefined)[]> => {
      const records = await Promise.all(
        Array.from({ length: 10 }, () => store.getInstance('behind').catch(() => null)),
      );
      return records.map((record) => record?.id);
    };
    const fromSecond = Array.from({ length: 10 }, () => 'behind');
    try {
      await open(second.url).then((store) =>
        store.insertInstance({ record: instanceOf('behind'), side: NO_SIDE }),
      );
      const store = await open(both);
      expect(await readMany(store)).not.toContain('behind');
      await setReadOnly('on');
      // Connections that only read have not noticed anything.
      await expect
        .poll(() => failure(store.removeNode('x')).then(({ error }) => error), BACK)
        .toBeInstanceOf(StoreUnavailableError);
      await expect
        .poll(() => failure(store.removeNode('x')).then(({ error }) => error), BACK)
        .toBeNull();
      expect(await readMany(store)).toEqual(fromSecond);
      expect(await readMany(await open(both))).toEqual(fromSecond);
    } finally {
      await setReadOnly('off');
      await Promise.all(poolers.map((pooler) => pooler.stop()));
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
    await expectQuickFailures(store, GIVES_UP_WITHIN_MS);
    await startAgain();
    await expect.poll(() => failure(store.ping()).then(({ error }) => error), BACK).toBeNull();
  });
});
