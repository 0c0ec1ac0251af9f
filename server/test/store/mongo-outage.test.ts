/**
 * Goal: if a database is unavailable, hangs or comes back, operations fail with StoreUnavailableError in time, and
 * nothing is lost.
 * Method: a separate container is paused, resumed and stopped under the store.
 */
import { getContainerRuntimeClient } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import { StoreUnavailableError, type Store } from '../../src/store/store.js';
import { mongoForTests, startMongoContainer } from '../support/mongo-container.js';
import { activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from './records.js';

const GIVES_UP_WITHIN_MS = 3000;

async function failure(operation: Promise<unknown>): Promise<{ error: unknown; afterMs: number }> {
  const startedAt = performance.now();
  const error = await operation.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, afterMs: performance.now() - startedAt };
}

describe('createMongoStore without a server', () => {
  it('fails to start within the time limit, with a plain message that contains no password', async () => {
    const store = createMongoStore({ url: 'mongodb://user:secret@127.0.0.1:1/x' });
    const { error, afterMs } = await failure(store.start());
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(String(error)).not.toContain('secret');
    expect(afterMs).toBeLessThan(GIVES_UP_WITHIN_MS);
    await store.stop();
  });
});

const runsContainers =
  (process.env['TEST_DBHOST'] ?? '') === '' && (await mongoForTests()) !== null;

describe.skipIf(!runsContainers)('createMongoStore with a failing server', () => {
  let server: Awaited<ReturnType<typeof startMongoContainer>>;
  /** The same container, if it can be paused. */
  let frozen: { pause(): Promise<unknown>; unpause(): Promise<unknown> };
  beforeAll(async () => {
    server = await startMongoContainer();
    const runtime = await getContainerRuntimeClient();
    frozen = runtime.container.getById(server.container.getId());
  });
  afterAll(() => server.container.stop());
  const open = async (): Promise<Store> => {
    const store = createMongoStore({ url: server.url });
    await store.start();
    return store;
  };

  it('gives up within the time limit while the server hangs, and works again afterwards', async () => {
    const store = await open();
    await store.insertInstance({ record: instanceOf('hang'), side: NO_SIDE });
    await frozen.pause();
    const failures = await Promise.all([
      failure(store.getInstance('hang')),
      failure(store.commitInstance(commitOf(instanceOf('hang'), { revision: 1 }))),
      failure(store.ping()),
    ]);
    await frozen.unpause();
    for (const { error, afterMs } of failures) {
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(afterMs).toBeLessThan(GIVES_UP_WITHIN_MS);
    }
    // Unknown until it is read back (rule S5): the commit was never sent, or arrives now. A later one wins in any case.
    await expect
      .poll(async () => {
        const record = await store.getInstance('hang').catch(() => null);
        return (
          record &&
          store.commitInstance(commitOf(record, { revision: record.revision, state: 'later' }))
        );
      })
      .toBe('committed');
    const { state, revision } = (await store.getInstance('hang'))!;
    expect(state).toBe('later');
    expect([2, 3]).toContain(revision);
    await store.stop();
  });

  it('releases an item if the response to its claim came too late', async () => {
    const store = await open();
    await store.insertInstance({
      record: instanceOf('late'),
      side: { ...NO_SIDE, activities: [activityOf('late/1/0', 'late', { name: 'late' })] },
    });
    const claim = (worker: string) =>
      store.claimActivity({ name: 'late', now: 2000, claim: claimBy(worker), deferMs: 1000 });
    await frozen.pause();
    const { error } = await failure(claim('nobody'));
    expect(error).toBeInstanceOf(StoreUnavailableError);
    await frozen.unpause();
    await expect
      .poll(async () => (await claim('somebody').catch(() => null))?.workerId, { timeout: 10_000 })
      .toBe('somebody');
    await store.stop();
  });

  it('stops within the time limit while the server hangs, with deferred writes pending', async () => {
    const store = await open();
    await store.insertInstance({ record: instanceOf('stop'), side: NO_SIDE });
    const commit = commitOf(instanceOf('stop'), { removeSubscriptions: ['s'] });
    expect(await store.commitInstance(commit)).toBe('committed');
    await frozen.pause();
    const startedAt = performance.now();
    await store.stop();
    const tookMs = performance.now() - startedAt;
    await frozen.unpause();
    expect(tookMs).toBeLessThan(GIVES_UP_WITHIN_MS);
  });

  it('fails within the time limit when the server is gone, and still stops', async () => {
    const store = await open();
    await server.container.stop();
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
    await expect.poll(firstToFail, { timeout: 20_000 }).toBe('the others');
    await store.stop();
  });
});
