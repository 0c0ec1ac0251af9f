/**
 * Ten thousand triggers, a thousand of them due in the same second, on a clock that the test moves: until then they cost one
 * timer and no operation of the store, and then one save for each.
 */
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import type { WorkflowDefinition } from '../../../src/engine/model/definition.js';
import type { CronSource, TriggerDefinition } from '../../../src/engine/model/trigger.js';
import { dueAtOf } from '../../../src/runtime/trigger-records/due-times.js';
import { TriggerScan } from '../../../src/runtime/triggers/trigger-scan.js';
import {
  newState,
  recordOf,
  triggerId,
} from '../../../src/runtime/trigger-records/trigger-state.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { observeStore } from '../../../src/store/observed-store.js';
import { eventually } from '../../../../sdk/test/support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const [TRIGGERS, DUE, PER_DEFINITION] = [10_000, 1000, 100];
const REJECT = (): Promise<never> => Promise.reject(new Error('not expected'));

function definitionOf(index: number): WorkflowDefinition {
  const source: CronSource = {
    kind: 'cron',
    // The test begins on January 1st.
    cron: index < DUE ? '0 0 2 1 *' : '0 0 1 7 *',
    timeZone: 'UTC',
    overlap: 'Allow',
    catchUpMs: 60 * SECOND,
    jitterMs: 0,
  };
  const first = index - (index % PER_DEFINITION);
  const triggers = Array.from({ length: PER_DEFINITION }, (_, n): TriggerDefinition => {
    return { name: `t${n}`, source, data: null, reference: null, content: '' };
  });
  // Only these members are read.
  return { id: `d${first}`, version: 1, triggers } as unknown as WorkflowDefinition;
}

describe('the look for due triggers', () => {
  const clock = new ManualClock();
  const definitions = new Map<string, WorkflowDefinition>();
  const started = new Map<string, number>();
  const operations: string[] = [];
  const store = observeStore(createMemoryStore(), {
    after: ({ name }) => {
      operations.push(name);
    },
  });
  const scan = new TriggerScan({
    store,
    clock,
    logger: createLogger({ level: 'silent' }),
    registry: { complete: REJECT, reconcile: REJECT },
    findDefinition: (id) => Promise.resolve(definitions.get(id) ?? null),
    isChosen: () => true,
    sleepMsMax: () => null,
    metrics: { triggerFired: () => undefined },
    starter: {
      start: ({ workflowId }) => {
        started.set(workflowId, (started.get(workflowId) ?? 0) + 1);
        // Only the id is read.
        return Promise.resolve({ outcome: 'started', instance: { id: workflowId } as never });
      },
    },
    control: { control: REJECT },
  });

  beforeAll(async () => {
    for (let index = 0; index < TRIGGERS; index += 1) {
      const definition = definitionOf(index);
      definitions.set(definition.id, definition);
      const trigger = definition.triggers[index % PER_DEFINITION]!;
      const state = newState(trigger, { since: clock.now(), version: 1 });
      const id = triggerId(definition.id, trigger.name);
      const dueAt = dueAtOf(id, trigger.source as CronSource, state, clock.now());
      const record = recordOf(definition.id, trigger, state, { dueAt, revision: 1 });
      await store.saveTrigger(record, null);
    }
    operations.length = 0;
    await scan.start();
  });

  it('sleeps until they are due, then starts each once', { timeout: 60_000 }, async () => {
    await eventually('the timer is set', () => clock.pending === 1);
    expect(operations).toEqual(['findDueTriggers']);
    for (let hour = 0; hour < 23; hour += 1) {
      clock.advance(HOUR);
      await setImmediate();
    }
    clock.advance(HOUR - SECOND);
    await setImmediate();
    expect(operations).toHaveLength(1);
    expect(clock.pending).toBe(1);
    clock.advance(SECOND);
    await eventually('the next timer is set', () => clock.pending === 1 && started.size > 0);
    expect([started.size, Math.max(...started.values())]).toEqual([DUE, 1]);
    const looks = operations.filter((name) => name !== 'saveTrigger');
    expect(operations.length - looks.length).toBe(DUE);
    expect(looks.length).toBeLessThanOrEqual(10);
    await scan.stop();
    expect(clock.pending).toBe(0);
  });
});
