/** What every store on a database server does when the server hangs or is gone. */
import { expect, it } from 'vitest';
import { StoreUnavailableError, type Store } from '../../../src/store/store.js';
import type { DockerContainer } from '../../support/shared-server.js';
import { claimOf, activityOf, claimBy, commitOf, instanceOf, NO_SIDE } from '../records.js';

export interface FailedOperation {
  /** Null if it succeeded. */
  readonly error: unknown;
  readonly afterMs: number;
}

export interface OutageOptions {
  readonly open: () => Promise<Store>;
  readonly docker: () => DockerContainer;
  readonly givesUpWithinMs: number;
}

/** How long a test waits for a database that is back, on a busy machine. */
export const BACK = { timeout: 60_000 };

export async function failure(operation: Promise<unknown>): Promise<FailedOperation> {
  const startedAt = performance.now();
  const error = await operation.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, afterMs: performance.now() - startedAt };
}

/** @param store on an address at which nothing listens, with the password `secret` */
export async function expectRefusedStart(store: Store, givesUpWithinMs: number): Promise<void> {
  const refused = await failure(store.start());
  expectUnavailable([refused], givesUpWithinMs);
  expect(String(refused.error)).not.toContain('secret');
  await store.stop();
}

export function testHangingServer({ docker, givesUpWithinMs, open }: OutageOptions): void {
  it('gives up within the time limit while the server hangs, and works again afterwards', async () => {
    const store = await open();
    await store.insertInstance({ record: instanceOf('hang'), side: NO_SIDE });
    await docker().pause();
    const failures = await Promise.all([
      failure(store.getInstance('hang')),
      failure(store.commitInstance(commitOf(instanceOf('hang'), { revision: 1 }))),
      failure(store.ping()),
    ]);
    await docker().unpause();
    expectUnavailable(failures, givesUpWithinMs);
    // Unknown until it is read back (rule S5): the commit was never sent, or arrives now. A later one wins in any case.
    let commits = 1;
    await expect
      .poll(async () => {
        const record = await store.getInstance('hang').catch(() => null);
        if (record === null) return null;
        commits += 1;
        const later = commitOf(record, { revision: record.revision, state: 'later' });
        return store.commitInstance(later).catch(() => null);
      }, BACK)
      .toBe('committed');
    const { revision, state } = (await store.getInstance('hang'))!;
    expect(state).toBe('later');
    expect(revision).toBeGreaterThan(1);
    expect(revision).toBeLessThanOrEqual(1 + commits);
    await store.stop();
  });

  it('releases an item if the response to its claim came too late', async () => {
    const store = await open();
    await store.insertInstance({
      record: instanceOf('late'),
      side: { ...NO_SIDE, activities: [activityOf('late/1/0', 'late', { name: 'late' })] },
    });
    const claim = (worker: string) =>
      claimOf(store, { name: 'late', now: 2000, claim: claimBy(worker), deferMs: 1000 });
    await docker().pause();
    const { error } = await failure(claim('nobody'));
    expect(error).toBeInstanceOf(StoreUnavailableError);
    await docker().unpause();
    await expect
      .poll(async () => (await claim('somebody').catch(() => null))?.workerId, BACK)
      .toBe('somebody');
    await store.stop();
  });

  it('stops within the time limit while the server hangs, with deferred writes pending', async () => {
    const store = await open();
    await store.insertInstance({ record: instanceOf('stop'), side: NO_SIDE });
    const commit = commitOf(instanceOf('stop'), { removeSubscriptions: ['s'] });
    expect(await store.commitInstance(commit)).toBe('committed');
    await docker().pause();
    const startedAt = performance.now();
    await store.stop();
    const tookMs = performance.now() - startedAt;
    await docker().unpause();
    expect(tookMs).toBeLessThan(givesUpWithinMs);
  });
}

export async function expectQuickFailures(store: Store, givesUpWithinMs: number): Promise<void> {
  const operations = [
    () => store.ping(),
    () => store.getInstance('x'),
    () => store.removeNode('x'),
  ];
  for (const operation of operations) {
    expectUnavailable([await failure(operation())], givesUpWithinMs);
  }
  // After a while, only one keeps searching for the server. The others do not wait for it.
  const firstToFail = (): Promise<string> =>
    Promise.race([
      failure(store.getInstance('x')).then(() => 'the one that looks'),
      failure(store.ping()).then(() => 'the others'),
    ]);
  await expect.poll(firstToFail, BACK).toBe('the others');
}

function expectUnavailable(failures: readonly FailedOperation[], givesUpWithinMs: number): void {
  for (const { afterMs, error } of failures) {
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(afterMs).toBeLessThan(givesUpWithinMs);
  }
}
