/** How many instances are loaded at the same time, in the foreground and in the background. */
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { InstanceLoads, type LoadPriority } from '../../../src/runtime/instances/instance-loads.js';
import { instanceOf } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

const GATE_MAX = 8;
const BESIDE_CLIENTS_MAX = 2;

/** Lets settled promises run on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function scene() {
  const clock = new ManualClock();
  const activated: string[] = [];
  const reloaded: string[] = [];
  const unfinished: string[] = [];
  let isStopping = false;
  const loads = new InstanceLoads({
    environment: {
      clock,
      logger: createLogger({ level: 'silent' }),
      retryStore: (ask) => ask(),
    },
    limits: { countMax: GATE_MAX, lengthMax: 1e9 },
    memory: {
      tryEnter: () => true,
      enter: () => Promise.resolve(true),
      notComing: () => undefined,
    },
    reload: (id) => {
      reloaded.push(id);
      return Promise.resolve(null);
    },
    isStopping: () => isStopping,
    activate: ({ id }) => {
      activated.push(id);
      return Promise.resolve();
    },
    isHere: () => false,
    isWorking: () => false,
    loaded: (id, isDone) => {
      if (!isDone) unfinished.push(id);
    },
  });
  const reading = new Map<string, () => void>();
  return {
    activated,
    reloaded,
    unfinished,
    stop: () => {
      isStopping = true;
    },
    clock,
    loads,
    /** The instances that are being read from the store. */
    reading,
    bring: (count: number, lane: LoadPriority) => {
      for (let n = 0; n < count; n += 1) {
        const id = `${lane}-${n}`;
        const read = () =>
          new Promise<null>((resolve) => {
            reading.set(id, () => {
              reading.delete(id);
              resolve(null);
            });
          });
        void loads.bring(id, read, lane);
      }
    },
    finishOne: async () => {
      const [finish] = reading.values();
      finish?.();
      await settle();
    },
  };
}

it('uses the full load limit while no client is served', async () => {
  const { bring, reading } = scene();
  bring(40, 'background');
  await settle();
  expect(reading.size).toBe(GATE_MAX);
});

it('reduces background loads while clients are served, but never stops them', async () => {
  const { bring, finishOne, loads, reading } = scene();
  loads.served();
  bring(40, 'background');
  await settle();
  expect(reading.size).toBe(BESIDE_CLIENTS_MAX);
  for (let left = 40; left > 0; left -= 1) {
    expect(reading.size).toBe(Math.min(left, BESIDE_CLIENTS_MAX));
    await finishOne();
  }
});

it('prefers loads that a client is waiting for to background loads', async () => {
  const { bring, loads, reading } = scene();
  loads.served();
  bring(40, 'background');
  bring(4, 'foreground');
  await settle();
  expect([...reading.keys()].filter((id) => id.startsWith('foreground'))).toHaveLength(4);
});

it('speeds up again after a while without client calls', async () => {
  const { bring, clock, finishOne, loads, reading } = scene();
  loads.served();
  bring(40, 'background');
  await settle();
  clock.advance(1001);
  await finishOne();
  expect(reading.size).toBe(GATE_MAX);
});

it('activates an instance that was claimed with a message without another read', async () => {
  const { activated, loads, reloaded } = scene();
  await loads.bringClaimed(instanceOf('i'));
  await settle();
  expect({ activated, reloaded }).toEqual({ activated: ['i'], reloaded: [] });
});

it('reads a claimed instance after a load that may not have seen the claim', async () => {
  const { activated, bring, finishOne, loads, reloaded } = scene();
  bring(1, 'foreground');
  await settle();
  const brought = loads.bringClaimed(instanceOf('foreground-0'));
  await settle();
  expect(reloaded).toEqual([]);
  await finishOne();
  await brought;
  await settle();
  expect({ activated, reloaded }).toEqual({ activated: [], reloaded: ['foreground-0'] });
});

it('reports a claimed instance as unfinished if the node stops', async () => {
  const { activated, loads, stop, unfinished } = scene();
  stop();
  await loads.bringClaimed(instanceOf('i'));
  expect({ activated, unfinished }).toEqual({ activated: [], unfinished: ['i'] });
});
