/**
 * Goal: the start of a child ends with a result of the child, not with a failure of the moment.
 * Method: starts on a memory store, with an Input check that each test replaces.
 */
import { expect, it } from 'vitest';
import { AppError } from '../../../src/base/errors.js';
import { startSession } from '../../../src/engine/flow/lifecycle.js';
import { RunHistory } from '../../../src/runtime/fleet/run-history.js';
import { RuntimeMetrics } from '../../../src/runtime/fleet/runtime-metrics.js';
import { newRecord } from '../../../src/runtime/instance-state/new-instance.js';
import { StoreRetry } from '../../../src/runtime/instances/store-retry.js';
import {
  InstanceStarter,
  type InstanceStarterOptions,
} from '../../../src/runtime/operations/instance-starter.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { define } from '../../engine/support/define.js';
import { invariant } from '../../../src/engine/model/invariant.js';
import { NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';
import { systemIds } from '../../../src/base/ids.js';

const CHILD = {
  workflowId: 'child',
  parent: { workflowId: 'parent', pointerId: 1, attempt: 1, rootId: 'parent', wait: true },
  priority: 3,
  fairness: null,
} as const;

function scene(admit: InstanceStarterOptions['inputSchemas']['admit']) {
  const clock = new ManualClock();
  const store = createMemoryStore();
  const retry = new StoreRetry(clock);
  const definition = { ...define([{ id: 'a', stepType: 'NoOp' }]), input: {} };
  const starts = new InstanceStarter({
    history: new RunHistory(clock),
    clock,
    ids: systemIds,
    metrics: new RuntimeMetrics(),
    catalog: {
      latest: () => Promise.resolve(definition),
      startable: () => Promise.resolve(definition),
    },
    runner: {
      startInstance: async (start) => {
        const { instance } = startSession(start.definition, start, start.startTime);
        const place = { owner: null, now: start.startTime, wakeAt: null, state: '' };
        const record = newRecord(start, instance, place);
        const result = await store.insertInstance({ record, side: NO_SIDE });
        invariant(result.outcome !== 'no-slots', 'it takes no slots');
        return result;
      },
    },
    ends: { begin: unused, wait: unused },
    joins: { join: unused },
    collectedLengthMax: 1000,
    environment: { store, retryStore: (ask, isCanceled) => retry.untilAnswered(ask, isCanceled) },
    inputSchemas: { admit },
    scripts: { evaluate: unused },
    replaced: unused,
    startsMax: 1,
    isStopping: () => false,
  });
  return { clock, store, start: () => starts.startChild({ DefinitionId: 'd' }, CHILD) };
}

function unused(): never {
  throw new Error('not used here');
}

it('starts a child when the server is no longer overloaded', async () => {
  let attempts = 0;
  const { clock, start, store } = scene((_, data) => {
    attempts += 1;
    return attempts < 4
      ? Promise.reject(new AppError('overloaded', 'later'))
      : Promise.resolve(data);
  });
  const started = start();
  for (const pauses of [1, 2, 3]) {
    await expect.poll(() => [attempts, clock.pending]).toEqual([pauses, 1]);
    clock.advance(2000);
  }
  expect(await started).toEqual({ outcome: 'started' });
  expect(await store.getInstance('child')).not.toBeNull();
});

it('starts a child whose start is repeated, even if its definition refuses its data now', async () => {
  let isStrict = false;
  const refusal = new AppError('invalid_data', 'n is missing');
  const { start, store } = scene((_, data) =>
    isStrict ? Promise.reject(refusal) : Promise.resolve(data),
  );
  expect(await start()).toEqual({ outcome: 'started' });
  isStrict = true;
  expect(await start()).toEqual({ outcome: 'started' });
  const other = scene(() => Promise.reject(refusal));
  await expect(other.start()).rejects.toBe(refusal);
  expect(await store.getInstance('child')).not.toBeNull();
});
