/** One look at a cron trigger: catching up after an outage, crashes between start and save, and backlogs. */
import { describe, expect, it } from 'vitest';
import type { CronSource, TriggerDefinition } from '../../../src/engine/model/trigger.js';
import type { WorkflowDefinition } from '../../../src/engine/model/definition.js';
import { AppError } from '../../../src/base/errors.js';
import type { Store } from '../../../src/store/store.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { CronCheck, type CronCheckOptions } from '../../../src/runtime/triggers/cron-check.js';
import { dueAtOf } from '../../../src/runtime/trigger-records/due-times.js';
import {
  newState,
  readTriggerState,
  recordOf,
  triggerId,
  type TriggerState,
} from '../../../src/runtime/trigger-records/trigger-state.js';

const START = Date.parse('2026-05-01T00:00:00Z');
const MINUTE = 60_000;
const ID = triggerId('job', 'each-minute');

interface Setting {
  readonly store: Store;
  readonly source: CronSource;
  readonly outcomes: string[];
  /** Starts by id, with how often each was asked for. */
  readonly started: Map<string, { readonly time: number; count: number }>;
  state(): Promise<TriggerState>;
  /** Looks at the trigger at that time; returns whether it could be saved. */
  look(now: number, changes?: Partial<CronCheckOptions>): Promise<boolean>;
}

async function setting(changes: Partial<CronSource> = {}): Promise<Setting> {
  const store = createMemoryStore();
  const source: CronSource = {
    kind: 'cron',
    cron: '* * * * *',
    timeZone: 'UTC',
    overlap: 'Allow',
    catchUpMs: MINUTE,
    jitterMs: 0,
    ...changes,
  };
  const trigger: TriggerDefinition = {
    name: 'each-minute',
    source,
    data: null,
    reference: null,
    content: '',
  };
  // Only its id is read.
  const definition = { id: 'job', version: 1 } as WorkflowDefinition;
  const state = newState(trigger, { since: START, version: 1 });
  const dueAt = dueAtOf(ID, source, state, START);
  await store.saveTrigger(recordOf('job', trigger, state, { dueAt, revision: 1 }), null);
  const outcomes: string[] = [];
  const started: Setting['started'] = new Map();
  const look: Setting['look'] = async (now, others = {}) => {
    const record = await store.getTrigger(ID);
    if (record === null) throw new Error('there is no trigger');
    const options: CronCheckOptions = {
      store,
      clock: { now: () => now, at: () => () => undefined },
      metrics: { triggerFired: (outcome) => outcomes.push(outcome) },
      starter: {
        start: async ({ start, workflowId }) => {
          const known = started.get(workflowId) ?? { time: start.time, count: 0 };
          started.set(workflowId, { ...known, count: known.count + 1 });
          // Only the id is read.
          return { outcome: 'started', instance: { id: workflowId } as never };
        },
      },
      control: { control: () => Promise.reject(new Error('not expected')) },
      ...others,
    };
    return new CronCheck(options, { definition, trigger, source, record }).run();
  };
  return {
    store,
    source,
    outcomes,
    started,
    look,
    state: async () => readTriggerState((await store.getTrigger(ID))!),
  };
}

const timesOf = ({ started }: Setting): readonly number[] =>
  [...started.values()].map(({ time }) => (time - START) / MINUTE);

describe('a look at a cron trigger', () => {
  it('starts the due runs, and nothing before', async () => {
    const at = await setting();
    await at.look(START + MINUTE - 1);
    expect(timesOf(at)).toEqual([]);
    await at.look(START + MINUTE);
    await at.look(START + MINUTE);
    expect(timesOf(at)).toEqual([1]);
    expect((await at.store.getTrigger(ID))?.dueAt).toBe(START + 2 * MINUTE);
  });

  it('makes up for missed times within CatchUp, the oldest first, and for no others', async () => {
    const at = await setting({ catchUpMs: 5 * MINUTE });
    await at.look(START + 60 * MINUTE + 30_000);
    expect(timesOf(at)).toEqual([56, 57, 58, 59, 60]);
    expect(at.outcomes).toEqual(['Missed', ...Array.from({ length: 5 }, () => 'Started')]);
  });

  it('keeps the started runs when the next start has to be repeated', async () => {
    const at = await setting({ catchUpMs: 60 * MINUTE });
    let room = 2;
    const looks = async (): Promise<void> => {
      const start: CronCheckOptions['starter']['start'] = async ({
        start: { time },
        workflowId,
      }) => {
        if (room === 0) throw new AppError('overloaded', 'no memory for another run');
        room -= 1;
        at.started.set(workflowId, { time, count: 1 });
        // Only the id is read.
        return { outcome: 'started', instance: { id: workflowId } as never };
      };
      const now = START + 4 * MINUTE;
      await expect(at.look(now, { starter: { start } })).rejects.toThrow('no memory');
      expect((await at.store.getTrigger(ID))?.dueAt).toBeGreaterThan(now);
    };
    await looks();
    expect(timesOf(at)).toEqual([1, 2]);
    expect((await at.state()).cursor).toBe(START + 2 * MINUTE);
    room = 1;
    await looks();
    expect(timesOf(at)).toEqual([1, 2, 3]);
    expect((await at.state()).cursor).toBe(START + 3 * MINUTE);
  });

  it('passes over a year of missed times quickly', async () => {
    const at = await setting();
    await at.look(START + 365 * 1440 * MINUTE + 1000);
    expect(timesOf(at)).toEqual([365 * 1440 - 0]);
  });

  it('starts a due time once, also if a node dies before it saves', async () => {
    const at = await setting();
    const dying: Pick<Store, 'getDefinition' | 'getInstance' | 'saveTrigger'> = {
      getDefinition: (...args) => at.store.getDefinition(...args),
      getInstance: (...args) => at.store.getInstance(...args),
      saveTrigger: () => Promise.reject(new Error('killed')),
    };
    await expect(at.look(START + 3 * MINUTE, { store: dying })).rejects.toThrow('killed');
    await at.look(START + 3 * MINUTE);
    // The same ids: the store keeps one run for each.
    expect([...at.started.values()].map(({ count }) => count)).toEqual([2, 2]);
    expect(timesOf(at)).toEqual([2, 3]);
  });

  it('saves nothing over the change of another node', async () => {
    const at = await setting();
    const record = (await at.store.getTrigger(ID))!;
    const paused = { ...(await at.state()), paused: true };
    const body = JSON.stringify(paused);
    const starter: CronCheckOptions['starter'] = {
      start: async ({ workflowId }) => {
        await at.store.saveTrigger({ ...record, revision: 2, body }, 1);
        return { outcome: 'started', instance: { id: workflowId } as never };
      },
    };
    expect(await at.look(START + MINUTE, { starter })).toBe(false);
    expect((await at.state()).paused).toBe(true);
  });

  it('skips times while the definition is disabled', async () => {
    const at = await setting({ catchUpMs: 60 * MINUTE });
    const starter: CronCheckOptions['starter'] = {
      start: () => Promise.resolve({ outcome: 'disabled' }),
    };
    await at.look(START + 5 * MINUTE, { starter });
    await at.look(START + 6 * MINUTE);
    expect(timesOf(at)).toEqual([6]);
  });
});
