/** Which instances a node suspects after the death of another node, and when it suspends them. */
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { Quarantine } from '../../../src/runtime/instances/quarantine.js';
import { TakeOver } from '../../../src/runtime/instances/take-over.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import { instanceOf, NO_SIDE } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

const QUIET_MS = 3000;
const NEWER = 1000;

/** Lets settled promises run on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

interface Options {
  readonly crashesMax?: number;
  /** How long the dead node could have been working; null: nothing is known about it any more. */
  readonly livedUntil?: number | null;
}

async function scene(dead: Partial<InstanceRecord>, options: Options = {}) {
  const { crashesMax = 5 } = options;
  let { livedUntil = 5000 } = options;
  const clock = new ManualClock();
  const store = createMemoryStore();
  const record = instanceOf('suspect', { owner: 'dead', epoch: 3, ...dead });
  await store.insertInstance({ record, side: NO_SIDE });
  const logger = createLogger({ level: 'silent' });
  const active: InstanceRecord[] = [];
  const newer: string[] = [];
  const takeOver = new TakeOver({
    environment: {
      clock,
      logger,
      store,
      evaluator: { ready: () => Promise.resolve() },
      retryStore: (ask) => ask(),
      takeAllTurns: () => Promise.resolve(() => undefined),
    },
    nodes: {
      id: 'self',
      isGone: () => Promise.resolve(true),
      recordOf: () => undefined,
      livedUntil: () => livedUntil,
    },
    quarantine: new Quarantine({
      store,
      clock,
      logger,
      announce: () => ({ deliveries: [], written: () => undefined, takeBack: () => undefined }),
      sendOutbox: () => Promise.resolve(),
      changed: () => undefined,
    }),
    crashesMax,
    isStopping: () => false,
    isHere: (id) => active.some((other) => other.id === id),
    bring: async (_id, load) => {
      const loaded = await load();
      if (loaded !== null) active.push(loaded);
    },
    activate: (activated) => {
      active.push(activated);
      return Promise.resolve();
    },
    load: () => Promise.resolve(null),
    isNewer: ({ id, schemaVersion }) => {
      if (schemaVersion < NEWER) return false;
      newer.push(id);
      return true;
    },
    waitsForResponse: () => false,
    cleared: () => undefined,
    maybeUnfinished: () => undefined,
  });
  await takeOver.claim(record);
  return {
    /** The instances that are active by now. */
    active,
    /** The instances that a newer server has written. */
    newer,
    forgetNode: () => (livedUntil = null),
    afterQuiet: async () => {
      clock.advance(QUIET_MS);
      for (let turn = 0; turn < 10; turn += 1) await settle();
      return store.getInstance('suspect');
    },
  };
}

describe('an instance of a node that died', () => {
  it('is not a suspect if it was only waiting', async () => {
    const { active } = await scene({ wakeAt: 5001 });
    expect(active).toMatchObject([{ owner: 'self', crashes: 0 }]);
  });

  it('is left alone, and logged, if a newer version of the server has written it', async () => {
    for (const dead of [{ underWay: true }, { wakeAt: 0 }, { wakeAt: 0, crashes: 3 }]) {
      const { active, afterQuiet, newer } = await scene({ ...dead, schemaVersion: NEWER });
      expect(newer).toEqual(['suspect']);
      expect(await afterQuiet()).toMatchObject({ epoch: 3, owner: 'dead' });
      expect(active).toEqual([]);
    }
  });

  it('is a suspect if it was due, was running an effect, or had been claimed before', async () => {
    for (const dead of [{ wakeAt: 5000 }, { underWay: true }]) {
      const { active } = await scene(dead);
      expect(active).toMatchObject([{ crashes: 1 }]);
    }
    const { active, afterQuiet } = await scene({ wakeAt: 9000, crashes: 1 });
    expect(active).toEqual([]);
    expect(await afterQuiet()).toMatchObject({ crashes: 2, status: 'Runnable' });
    expect(active).toHaveLength(1);
  });

  it('stays a suspect until its trial, even if the record of its node is gone by then', async () => {
    const { afterQuiet, forgetNode } = await scene({ wakeAt: 0, crashes: 2 });
    forgetNode();
    expect(await afterQuiet()).toMatchObject({ crashes: 3 });
  });

  it('is suspended after five crashes, the last three of them on trial', async () => {
    const fourth = await scene({ wakeAt: 0, crashes: 3 });
    expect(await fourth.afterQuiet()).toMatchObject({ status: 'Runnable', crashes: 4 });
    expect(fourth.active).toHaveLength(1);
    const fifth = await scene({ wakeAt: 0, crashes: 4 });
    expect(await fifth.afterQuiet()).toMatchObject({ status: 'Suspended' });
    expect(fifth.active).toEqual([]);
  });

  it('is not suspended for a single crash on trial, whatever the setting', async () => {
    const third = await scene({ wakeAt: 0, crashes: 2 }, { crashesMax: 1 });
    expect(await third.afterQuiet()).toMatchObject({ status: 'Runnable', crashes: 3 });
    const fourth = await scene({ wakeAt: 0, crashes: 3 }, { crashesMax: 1 });
    expect(await fourth.afterQuiet()).toMatchObject({ status: 'Suspended' });
  });
});
