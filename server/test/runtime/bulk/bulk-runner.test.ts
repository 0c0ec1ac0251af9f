/** Bulk jobs on one node: what is counted when a job or its node stops, and that a job has one run. */
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { AppError } from '../../../src/base/errors.js';
import { createLogger } from '../../../src/base/logger.js';
import type { BulkActions } from '../../../src/runtime/bulk/bulk-actions.js';
import {
  writeAbout,
  writeFailures,
  writeIds,
  writeTask,
} from '../../../src/runtime/bulk/bulk-codec.js';
import { BulkRunner } from '../../../src/runtime/bulk/bulk-runner.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { observeStore, type StoreObserver } from '../../../src/store/observed-store.js';
import type { BulkJobRecord } from '../../../src/store/records/bulk-jobs.js';
import { StoreUnavailableError } from '../../../src/store/store.js';

type Act = BulkActions['act'];

const JOB = 'job';
const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function scene(act: Act, observer: StoreObserver = {}) {
  const memory = createMemoryStore();
  const runner = new BulkRunner({
    store: observeStore(memory, observer),
    clock: systemClock,
    logger: createLogger({ level: 'silent' }),
    metrics: { bulkActed: () => undefined },
    nodes: { id: 'self', isGone: () => Promise.resolve(false) },
    actions: { act },
    isBusy: () => false,
  });
  stops.push(() => runner.stop());
  const insert = (ids: readonly string[]) =>
    runner.insert(jobOf(ids.length), [{ position: 0, ids: writeIds(ids) }]);
  const job = async () => (await memory.getBulkJob(JOB))!;
  return { insert, job, memory, runner };
}

function jobOf(matched: number): BulkJobRecord {
  return {
    id: JOB,
    requestHash: null,
    about: writeAbout({
      action: 'modify',
      actor: 'me',
      apiKeyId: null,
      reason: 'why',
      reach: 'all',
      perSecond: 1000,
    }),
    task: writeTask({ filter: null, modification: {}, compensate: false, priority: null }),
    state: 'Running',
    startTime: systemClock.now(),
    endTime: null,
    owner: 'self',
    epoch: 1,
    matched,
    isCollected: true,
    collectedTo: null,
    done: 0,
    skipped: 0,
    failed: 0,
    failures: writeFailures([]),
  };
}

function deferred<Value>() {
  let resolve!: (value: Value) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<Value>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}

const pending = () => new AppError('modification_pending', 'The run has not taken it yet');

it('counts runs that ended after the last check of a stopped job, also if the store fails once', async () => {
  const slow = deferred<'done'>();
  const acted: string[] = [];
  let failsOnce = true;
  const { insert, job, memory, runner } = scene(
    (_, id) => {
      acted.push(id);
      return id === 'slow' ? slow.promise : Promise.resolve('done');
    },
    {
      before: ({ name }) => {
        if (name !== 'saveBulkProgress' || !failsOnce) return;
        failsOnce = false;
        throw new StoreUnavailableError('no answer');
      },
    },
  );
  await insert(['slow', 'b', 'c']);
  await expect.poll(() => acted.length).toBe(3);
  await memory.stopBulkJob(JOB, systemClock.now());
  runner.runOf(JOB)!.halt('stopped');
  slow.resolve('done');
  await expect.poll(() => runner.running).toBe(0);
  expect(await job()).toMatchObject({ state: 'Stopped', done: 3, failed: 0 });
  expect(failsOnce).toBe(false);
});

it('repeats a modification that the run has not taken yet, instead of counting it as failed', async () => {
  const repetitions: boolean[] = [];
  const { insert, job } = scene((_action, _id, _by, mayBeRepeated) => {
    repetitions.push(mayBeRepeated);
    return repetitions.length < 3 ? Promise.reject(pending()) : Promise.resolve('done');
  });
  await insert(['a']);
  await expect.poll(async () => (await job()).state).toBe('Done');
  expect(await job()).toMatchObject({ done: 1, failed: 0 });
  expect(repetitions).toEqual([false, true, true]);
});

it('leaves a modification that was sent before its node stopped to the next node', async () => {
  const sent = deferred<never>();
  let attempts = 0;
  const { insert, job, runner } = scene(() => {
    attempts += 1;
    return sent.promise;
  });
  await insert(['a']);
  await expect.poll(() => attempts).toBe(1);
  const stopped = runner.stop();
  sent.reject(pending());
  await stopped;
  expect(await job()).toMatchObject({ state: 'Running', owner: null, done: 0, failed: 0 });
  expect(attempts).toBe(1);
});

it('does not claim a job that this node is inserting', async () => {
  const claims: unknown[] = [];
  const acted: string[] = [];
  const inserted = deferred<undefined>();
  const answer = deferred<undefined>();
  const { insert, job, runner } = scene(
    (_, id) => {
      acted.push(id);
      return Promise.resolve('done');
    },
    {
      before: ({ args, name }) => {
        if (name === 'claimBulkJob') claims.push(args);
      },
      after: async ({ name }) => {
        if (name !== 'insertBulkJob') return;
        inserted.resolve(undefined);
        await answer.promise;
      },
    },
  );
  const created = insert(['a', 'b']);
  await inserted.promise;
  await runner.takeOver();
  answer.resolve(undefined);
  await created;
  await expect.poll(() => runner.running).toBe(0);
  expect([claims, acted]).toEqual([[], ['a', 'b']]);
  expect(await job()).toMatchObject({ state: 'Done', epoch: 1, done: 2 });
});

it('does not let modifications that wait for another node delay the next ones', async () => {
  const answers = deferred<'done'>();
  let started = 0;
  const { insert, job } = scene(() => {
    started += 1;
    return answers.promise;
  });
  const ids = Array.from({ length: 200 }, (_, index) => `run-${index}`);
  await insert(ids);
  await expect.poll(() => started, { timeout: 10_000 }).toBe(ids.length);
  answers.resolve('done');
  await expect.poll(async () => (await job()).state).toBe('Done');
  expect(await job()).toMatchObject({ done: ids.length, failed: 0 });
});
