/** Trials: when one ends, when one may start, and in which order. */
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/base/logger.js';
import { CrashTrials } from '../../../src/runtime/instances/crash-trials.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import { instanceOf } from '../../store/records.js';
import { ManualClock } from '../support/manual-clock.js';

const QUIET_MS = 3000;
const OUTSIDE_MS = 250;
const TRIAL_MS_MAX = 10_000;

/** Lets settled promises run on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

interface Options {
  readonly nodeId?: string;
  readonly ready?: () => Promise<void>;
  readonly waitsOutside?: () => boolean;
}

function scene({ nodeId = 'node', ready, waitsOutside = () => false }: Options = {}) {
  const clock = new ManualClock();
  const begun: string[] = [];
  const suspectEpochs: (number | null)[] = [];
  /** As written to the store. */
  const counts: (readonly [string, number])[] = [];
  const trials = new CrashTrials({
    environment: {
      clock,
      logger: createLogger({ level: 'silent' }),
      evaluator: { ready: ready ?? (() => Promise.resolve()) },
      retryStore: (ask) => ask(),
      store: {
        setCrashes: (id, _epoch, crashes) => {
          counts.push([id, crashes]);
          return Promise.resolve(true);
        },
      },
      takeAllTurns: () => Promise.resolve(() => undefined),
    },
    nodeId,
    isStopping: () => false,
    begin: (id, suspectEpoch) => {
      begun.push(id);
      suspectEpochs.push(suspectEpoch);
      return Promise.resolve<InstanceRecord>(instanceOf(id));
    },
    waitsForResponse: waitsOutside,
    maybeUnfinished: () => undefined,
    cleared: () => undefined,
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settle();
  };
  return { begun, counts, pass, suspectEpochs, trials };
}

it('starts only after the node has been up for a while and Python is ready', async () => {
  let boot: () => void = () => undefined;
  const booted = new Promise<void>((resolve) => (boot = resolve));
  const { begun, pass, trials } = scene({ ready: () => booted });
  trials.add('one', null);
  await pass(QUIET_MS + TRIAL_MS_MAX);
  expect(begun).toEqual([]);
  // A node dies in the meantime.
  trials.unquiet();
  boot();
  await pass(QUIET_MS - 1);
  expect(begun).toEqual([]);
  await pass(1);
  expect(begun).toEqual(['one']);
});

it('lasts while an expression or a script is running, up to a limit', async () => {
  const { begun, counts, pass, trials } = scene();
  trials.add('slow', 3);
  trials.add('other', null);
  await pass(QUIET_MS);
  const [first] = begun;
  trials.rests(first ?? '');
  await pass(TRIAL_MS_MAX - 1);
  expect(begun).toHaveLength(1);
  expect(counts).toEqual([]);
  await pass(1);
  expect(begun).toHaveLength(2);
  expect(counts).toEqual([[first, 1]]);
});

it('ends with a commit that clears the instance, which keeps no count', async () => {
  const { begun, counts, pass, trials } = scene();
  trials.add('a', null);
  trials.add('b', null);
  await pass(QUIET_MS);
  const [first] = begun;
  trials.over('somebody else');
  await pass(0);
  expect(begun).toHaveLength(1);
  trials.over(first ?? '');
  await pass(0);
  expect(begun).toHaveLength(2);
  expect(counts).toEqual([]);
});

it('waits only briefly for a response from outside, and again after each idle time', async () => {
  let isOutside = false;
  const { counts, pass, trials } = scene({ waitsOutside: () => isOutside });
  trials.add('caller', null);
  await pass(QUIET_MS);
  // Working again when the time is over: the trial continues.
  trials.rests('caller');
  await pass(OUTSIDE_MS);
  expect(counts).toEqual([]);
  isOutside = true;
  trials.rests('caller');
  await pass(OUTSIDE_MS - 1);
  trials.rests('caller');
  await pass(OUTSIDE_MS - 1);
  expect(counts).toEqual([]);
  await pass(1);
  expect(counts).toEqual([['caller', 1]]);
});

it('passes the epoch known when the instance arrived to the start of the trial', async () => {
  const { pass, suspectEpochs, trials } = scene();
  trials.add('one', 12);
  await pass(QUIET_MS);
  expect(suspectEpochs).toEqual([12]);
});

it('starts the next trial with another instance on another node', async () => {
  const ids = Array.from({ length: 10 }, (_, at) => `instance-${at}`);
  const firsts = new Set<string | undefined>();
  for (let node = 0; node < 10; node += 1) {
    const { begun, pass, trials } = scene({ nodeId: `node-${node}` });
    for (const id of ids) trials.add(id, null);
    await pass(QUIET_MS);
    firsts.add(begun[0]);
  }
  expect(firsts.size).toBeGreaterThan(3);
});
