import { describe, expect, it } from 'vitest';
import { assign, definition } from './support/definitions.js';
import { eventually } from './support/eventually.js';
import type { Fleet } from './support/fleet.js';
import { inLanes } from './support/lanes.js';
import { PersistentClient } from './support/persistent-client.js';
import { scaled } from './support/random.js';
import type { Page } from './support/wire.js';
import { withFleet } from './support/with-fleet.js';

const CLIENTS = 16;
/** Without the deaths, a job takes so long. */
const JOB_SECONDS = 50;
const PER_SECOND_MAX = 1000;
const LIMIT_MS = 600_000;

const WAIT = {
  Id: 'wait',
  StepType: 'Activity',
  Inputs: { ActivityName: '"nobody"' },
};

/** A modification starts `count` again, so `turns` shows how often it happened. */
const DEFINITIONS = [
  definition('to-restart', [WAIT]),
  {
    ...definition('to-modify', [assign('count', { turns: 'data.turns + 1' }), WAIT]),
    Index: { turns: 'data.turns', job: 'data.job' },
  },
  { ...definition('without-count', [WAIT]), Index: { job: 'data.job' } },
];

interface Job {
  readonly id: string;
  readonly state: 'Running' | 'Done' | 'Stopped';
  readonly matched: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
}

interface ListedRun {
  readonly workflowId: string;
  readonly restartOf: string | null;
}

async function startRuns(
  client: PersistentClient,
  definitionId: string,
  count: number,
): Promise<void> {
  const body = { turns: 0, job: 'modify' };
  const numbers = Array.from({ length: count }, (_, n) => n);
  await inLanes(CLIENTS, numbers, async () => {
    await client.call('POST', `/api/workflow/${definitionId}`, { body });
  });
}

async function createJob(client: PersistentClient, body: object): Promise<Job> {
  const created = await client.call('POST', '/api/bulk', { body: { reason: 'a test', ...body } });
  return readJob(client, (created.body as Job).id);
}

async function readJob(client: PersistentClient, id: string): Promise<Job> {
  return (await client.call('GET', `/api/bulk/${id}`)).body as Job;
}

/** Waits until the jobs together have acted on this share of their runs: so the faster one is not done before the slower one. */
function untilActed(
  client: PersistentClient,
  jobs: readonly Job[],
  share: number,
): Promise<boolean> {
  const matched = jobs.reduce((sum, job) => sum + job.matched, 0);
  const have = async (): Promise<boolean> => {
    const read = await Promise.all(jobs.map(({ id }) => readJob(client, id)));
    const acted = read.reduce((sum, { done, failed, skipped }) => sum + done + failed + skipped, 0);
    return acted >= matched * share;
  };
  return eventually(`the jobs have acted on ${share} of their runs`, have, LIMIT_MS);
}

function untilDone(client: PersistentClient, { id }: Job): Promise<Job> {
  const read = async (): Promise<Job | false> => {
    const job = await readJob(client, id);
    return job.state === 'Done' && job;
  };
  return eventually(`bulk job ${id} is done`, read, LIMIT_MS);
}

async function listRuns(client: PersistentClient, filter: string): Promise<readonly ListedRun[]> {
  const runs: ListedRun[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/api/workflow?${filter}&limit=500&cursor=${cursor}`;
    const page = (await client.call('GET', path)).body as Page<ListedRun>;
    runs.push(...page.items);
    cursor = page.nextCursor;
  }
  return runs;
}

/** Node 0 owns the jobs and dies; node 1 continues them and dies; the next node 0 ends them. */
async function killOwnersTwice(
  fleet: Fleet,
  client: PersistentClient,
  jobs: readonly Job[],
): Promise<void> {
  const running = (): Promise<number> => fleet.metric('stepwright_bulk_jobs_running');
  await untilActed(client, jobs, 0.2);
  await fleet.kill(0);
  await eventually('node 1 works on the jobs', async () => (await running()) === jobs.length);
  await untilActed(client, jobs, 0.4);
  // It has nothing to do yet.
  await fleet.restart(0);
  expect(await running()).toBe(jobs.length);
  await fleet.kill(1);
  for (const { id, state } of await Promise.all(jobs.map(({ id }) => readJob(client, id)))) {
    expect(state, id).toBe('Running');
  }
}

async function expectRestartedOnce(
  client: PersistentClient,
  originals: readonly string[],
): Promise<void> {
  const runs = await listRuns(client, 'definitionId=to-restart');
  const restarted = runs.flatMap(({ restartOf }) => restartOf ?? []);
  expect(runs.length).toBe(2 * originals.length);
  expect(restarted.toSorted()).toEqual(originals.toSorted());
}

/** Waits until this many runs have counted so far, and then expects that no run has another count. */
async function untilTurns(client: PersistentClient, turns: number, count: number): Promise<void> {
  const runsWith = async (condition: string): Promise<number> =>
    (await listRuns(client, `where=${encodeURIComponent(`turns${condition}`)}`)).length;
  const what = `${count} runs have counted to ${turns}`;
  await eventually(what, async () => (await runsWith(`=${turns}`)) === count, LIMIT_MS);
  expect(await runsWith(`!=${turns}`)).toBe(0);
}

describe.each([
  { store: 'sqlite', runs: 10_000 },
  { store: 'mongo', runs: 2000 },
  { store: 'postgres', runs: 10_000 },
] as const)('T-39 a bulk job whose nodes die, on $store', ({ store, runs }) => {
  it('acts once on each run', { timeout: 1_800_000 }, async () => {
    await withFleet({ count: 2, store }, async ({ fleet }) => {
      const client = new PersistentClient(() => fleet.urls);
      const count = scaled(runs);
      const impossible = scaled(runs / 100);
      for (const body of DEFINITIONS) await client.call('POST', '/api/definition', { body });
      await startRuns(client, 'to-restart', count);
      await startRuns(client, 'to-modify', count);
      await startRuns(client, 'without-count', impossible);
      const originals = await listRuns(client, 'definitionId=to-restart');
      expect(originals.length).toBe(count);
      await untilTurns(client, 1, count);

      const beganAt = Date.now();
      const owner = new PersistentClient(() => [fleet.node(0).url]);
      const perSecond = Math.min(PER_SECOND_MAX, Math.ceil(count / JOB_SECONDS));
      const restart = await createJob(owner, {
        action: 'restart',
        filter: { definitionId: 'to-restart' },
        perSecond,
      });
      const modify = await createJob(owner, {
        action: 'modify',
        filter: { where: ['job=modify'] },
        modification: { cancel: '*', start: [{ stepId: 'count' }] },
        perSecond,
      });
      await killOwnersTwice(fleet, client, [restart, modify]);
      const ended = [await untilDone(client, restart), await untilDone(client, modify)];
      console.log(`T-39 ${store}`, { seconds: (Date.now() - beganAt) / 1000, perSecond, ended });
      const [restarted, modified] = ended;
      expect(restarted).toMatchObject({ matched: count, done: count, skipped: 0, failed: 0 });
      expect(modified).toMatchObject({ done: count, skipped: 0, failed: impossible });
      expect(modified?.matched).toBe(count + impossible);
      await expectRestartedOnce(
        client,
        originals.map(({ workflowId }) => workflowId),
      );
      await untilTurns(client, 2, count);
      expect(fleet.faults).toEqual([]);
    });
  });
});
