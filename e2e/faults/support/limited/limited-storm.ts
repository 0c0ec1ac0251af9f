/** Limited runs while nodes and workers are killed with kill -9 at random moments, and started again. */
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { PersistentClient } from '../persistent-client.js';
import type { Scene } from '../with-fleet.js';
import { WorkerProcesses } from '../worker-processes.js';
import { LimitedRuns, readLimits } from './limited-runs.js';
import { LimitedTarget } from './limited-target.js';

const WORKER = fileURLToPath(new URL('limited-worker.mjs', import.meta.url));
const WORKERS_PER_NODE = 2;
const KILL_EVERY_MS = 1200;
const RESTART_AFTER_MS_MAX = 300;
const SAMPLE_EVERY_MS = 50;

export interface StormSize {
  readonly runs: number;
  /** Of nodes, and as many of workers. */
  readonly kills: number;
}

export async function limitedStorm(scene: Scene, { kills, runs }: StormSize): Promise<object> {
  const { fleet, ledger } = scene;
  const client = new PersistentClient(() => fleet.urls);
  const target = new LimitedTarget(ledger);
  const limited = new LimitedRuns(client, target);
  const workers = new WorkerProcesses(ledger.url, WORKER);
  try {
    await limited.define();
    for (let n = 0; n < fleet.size * WORKERS_PER_NODE; n += 1) {
      await workers.add(fleet.node(n % fleet.size).url);
    }
    let isOver = false;
    const started = limited.start(runs, ledger.url);
    const storm = killAll(scene, workers, kills).finally(() => {
      isOver = true;
    });
    const samples = sampleHeld(client, fleet.database.kind, () => isOver);
    const [ids] = await Promise.all([started, storm, samples]);
    await limited.check(ids, fleet);
    return { runs, kills: 2 * kills, callsRepeated: ledger.repeats, samples: await samples };
  } finally {
    await workers.stop();
  }
}

/** Each node and each worker in turn. */
async function killAll(
  { fleet, random }: Scene,
  workers: WorkerProcesses,
  kills: number,
): Promise<void> {
  for (let kill = 0; kill < kills; kill += 1) {
    await setTimeout(random() * KILL_EVERY_MS);
    await workers.replace(kill % workers.count);
    await setTimeout(random() * KILL_EVERY_MS);
    const victim = kill % fleet.size;
    await fleet.kill(victim);
    await setTimeout(random() * RESTART_AFTER_MS_MAX);
    const { url } = await fleet.restart(victim);
    for (let at = victim; at < workers.count; at += fleet.size) workers.follow(at, url);
  }
}

/** At no time does a server count more than the limit. MongoDB reads the parts of this at different moments. */
async function sampleHeld(
  client: PersistentClient,
  store: string,
  isOver: () => boolean,
): Promise<number> {
  let samples = 0;
  while (!isOver()) {
    for (const { concurrency, keys, name } of await readLimits(client)) {
      if (concurrency === null || store === 'mongo') continue;
      for (const { held, key } of keys) {
        expect(held, `${name} with the key '${key}'`).toBeLessThanOrEqual(concurrency);
      }
    }
    samples += 1;
    await setTimeout(SAMPLE_EVERY_MS);
  }
  return samples;
}
