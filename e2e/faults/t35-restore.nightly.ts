import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { check, readHistory } from './support/checker.js';
import { backUpFile, copyDatabase, copySchema } from './support/database-copy.js';
import { definition, KINDS } from './support/definitions.js';
import type { Fleet, FleetOptions } from './support/fleet.js';
import { answerAfter } from '../../server/test/support/ledger.js';
import { scaled } from './support/random.js';
import { untilEnded } from './support/until-ended.js';
import { withFleet, type Scene } from './support/with-fleet.js';
import { Workload } from './support/workload.js';
import type { Instance, Page, StepRow } from './support/wire.js';

const RUNS = 120;
const PER_SECOND = 12;
const TIMERS = 10;
/** Due after the backup, and before the restored fleet starts. */
const TIMER_MS = 15_000;

const TIMER = definition('timer', [
  { Id: 'pause', StepType: 'Delay', Inputs: { Period: TIMER_MS / 1000 } },
  { Id: 'end', StepType: 'NoOp', Outputs: { fired: 'data.fired + 1' } },
]);

interface Backup {
  readonly settings: Readonly<Record<string, string>>;
  /** Runs whose start was acknowledged before the backup began. */
  readonly acknowledged: ReadonlySet<string>;
  readonly timers: readonly string[];
  readonly timersDueAt: number;
  readonly workload: Workload;
}

/**
 * A file is backed up while two servers write to it; other databases are copied after both servers were killed during the
 * load.
 */
async function backUp(fleet: Fleet): Promise<Readonly<Record<string, string>>> {
  const { database } = fleet;
  if (database.kind === 'sqlite') return { DATA_DIR: await backUpFile(database.file) };
  await Promise.all([fleet.kill(0), fleet.kill(1)]);
  const copy =
    database.kind === 'postgres'
      ? { dbhost: await copySchema(database) }
      : { db_name: await copyDatabase(database) };
  await Promise.all([fleet.restart(0), fleet.restart(1)]);
  return copy;
}

/** The fleet of which the backup is taken; it continues afterwards, and the restored fleet knows nothing of that. */
async function runAndBackUp({ fleet, ledger, random }: Scene): Promise<Backup> {
  const workload = new Workload({ urls: () => fleet.urls, ledger, random });
  ledger.respond = answerAfter(1500);
  await workload.begin();
  const { client } = workload;
  await client.call('POST', '/api/definition', { body: TIMER });
  const timers: string[] = [];
  for (let at = 0; at < TIMERS; at += 1) {
    const { body } = await client.call('POST', '/api/workflow/timer', { body: { fired: 0 } });
    timers.push((body as Instance).workflowId);
  }
  const timersDueAt = Date.now() + TIMER_MS;
  const runs = scaled(RUNS);
  const started = workload.start(runs, PER_SECOND);
  // During the load.
  await setTimeout((runs / PER_SECOND / 2) * 1000);
  const acknowledged = new Set(workload.runs.map(({ name }) => name));
  const settings = await backUp(fleet);
  await started;
  await workload.end();
  return { settings, acknowledged, timers, timersDueAt, workload };
}

/** The runs in the restored store, and their events once more: publishers repeat what they are not sure of. */
async function takeUp(
  restored: Workload,
  { acknowledged, workload }: Backup,
  startedAt: number,
): Promise<number> {
  const missing: string[] = [];
  let ended = 0;
  for (const run of workload.runs) {
    const { client } = restored;
    const page = await client.call('GET', `/api/workflow?reference=${run.name}`);
    const [found] = (page.body as Page<Instance>).items;
    if (found === undefined) {
      if (acknowledged.has(run.name)) missing.push(run.name);
      continue;
    }
    expect(found.workflowId).toBe(run.workflowId);
    if (found.endTime !== null && Date.parse(found.endTime) < startedAt) ended += 1;
    restored.runs.push(run);
    if (!KINDS[run.kind].awaitsEvent) continue;
    const event = { body: { value: run.n }, key: `event-${run.name}` };
    await client.call('POST', `/api/event/go/${run.name}`, event);
  }
  expect(missing).toEqual([]);
  return ended;
}

async function expectTimers(restored: Workload, { timers }: Backup, startedAt: number) {
  const { client } = restored;
  for (const id of timers) {
    const { data, endTime } = await untilEnded(client, id);
    expect(data['fired']).toBe(1);
    // The timer fired here, not before the backup.
    expect(Date.parse(endTime ?? '')).toBeGreaterThanOrEqual(startedAt);
    const rows = await readHistory(
      id,
      async (path) => (await client.call('GET', path)).body as Page<StepRow>,
    );
    expect(rows.map(({ stepId }) => stepId)).toEqual(['pause', 'end']);
  }
}

describe.each([{ store: 'sqlite' }, { store: 'mongo' }, { store: 'postgres' }] as const)(
  'T-35 a backup is restored on $store',
  ({ store }) => {
    it(
      'continues from the time of the backup, and overdue timers fire once',
      { timeout: 600_000 },
      async () => {
        await withFleet({ count: 2, store }, async (scene) => {
          const backup = await runAndBackUp(scene);
          await setTimeout(Math.max(0, backup.timersDueAt - Date.now()));
          const options: FleetOptions = { count: 2, store, settings: backup.settings };
          const startedAt = Date.now();
          await withFleet(options, async ({ fleet, random }) => {
            const restored = new Workload({ urls: () => fleet.urls, ledger: scene.ledger, random });
            await restored.begin();
            const endedBefore = await takeUp(restored, backup, startedAt);
            for (const { workflowId } of restored.runs)
              await untilEnded(restored.client, workflowId);
            // The other fleet accepted the results from before the backup.
            for (const [name, accepted] of backup.workload.accepted) {
              if (!restored.accepted.has(name)) restored.accepted.set(name, accepted);
            }
            const verdict = await check(restored, scene.ledger, fleet);
            await restored.end();
            await expectTimers(restored, backup, startedAt);
            console.log(`T-35 ${store}`, {
              runs: backup.workload.runs.length,
              acknowledgedBefore: backup.acknowledged.size,
              restored: verdict.runs,
              endedBefore,
              callsMadeAgain: verdict.repeatedCalls.length,
            });
            expect(verdict.violations).toEqual([]);
            expect(endedBefore).toBeLessThan(verdict.runs);
          });
          const { DATA_DIR: folder } = backup.settings;
          if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
        });
      },
    );
  },
);
