/**
 * Goal: a bulk job survives kill -9 of its nodes, and acts once on each run.
 * Method: two processes on one embedded store. The node that works on the jobs is killed in the middle of them, the other one
 * continues and is killed in turn. Restarting a run has an effect that a repetition would show: a second new run.
 */
import { expect, it } from 'vitest';
import type { SpawnedServer } from '../support/spawned-server.js';
import { bulkActionsOn, bulkDone, createBulk, startWaiting, untilBulk } from './support/bulk.js';
import { Client } from './support/client.js';
import { startProcess, temporaryFolder } from './support/server-process.js';

const RUNS = 250;
const PER_SECOND = 60;

interface Restarted {
  readonly items: readonly { readonly workflowId: string; readonly restartOf: string | null }[];
  readonly nextCursor: string | null;
}

/** The runs of which a run of the definition is a restart. */
async function originsIn(client: Client, definitionId: string): Promise<readonly string[]> {
  const origins: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `/api/workflow?definitionId=${definitionId}&limit=500&cursor=${cursor}`;
    const { body } = await client.get<Restarted>(path);
    origins.push(...body.items.flatMap(({ restartOf }) => restartOf ?? []));
    cursor = body.nextCursor;
  }
  return origins.toSorted();
}

it('acts once on each run, although the nodes of the bulk jobs are killed twice', async () => {
  const environment = { PORT: '0', DATA_DIR: await temporaryFolder(), python_spares: '0' };
  const nodes: SpawnedServer[] = [await startProcess(environment), await startProcess(environment)];
  const [first, second] = nodes.map(({ url }) => new Client(url)) as [Client, Client];
  const toRestart = await startWaiting(first, RUNS);
  const toSuspend = await startWaiting(first, RUNS);
  const create = (action: 'restart' | 'suspend', definitionId: string) =>
    createBulk(first, { action, filter: { definitionId }, perSecond: PER_SECOND });
  const restart = await create('restart', toRestart.definitionId);
  const suspend = await create('suspend', toSuspend.definitionId);

  // The first node has both jobs.
  await untilBulk(second, restart, ({ done }) => done > RUNS / 5);
  await nodes[0]!.kill();
  await untilBulk(second, restart, ({ done }) => done > RUNS / 2);
  const third = new Client((nodes[2] = await startProcess(environment)).url);
  await nodes[1]!.kill();

  for (const job of [restart, suspend]) {
    const ended = await bulkDone(third, job);
    expect(ended).toMatchObject({ matched: RUNS, done: RUNS, skipped: 0, failed: 0 });
  }
  expect(await originsIn(third, toRestart.definitionId)).toEqual(toRestart.ids.toSorted());
  const actions = await Promise.all(toSuspend.ids.map((id) => bulkActionsOn(third, id)));
  expect(actions.filter((each) => each.length !== 1)).toEqual([]);
  await nodes[2].stop();
}, 180_000);

it('stops a bulk job through another node than its owner', async () => {
  const environment = { PORT: '0', DATA_DIR: await temporaryFolder(), python_spares: '0' };
  const nodes = [await startProcess(environment), await startProcess(environment)];
  const [owner, other] = nodes.map(({ url }) => new Client(url)) as [Client, Client];
  const { definitionId, ids } = await startWaiting(owner, 60);
  const request = { action: 'suspend', filter: { definitionId }, perSecond: 4 } as const;
  const id = await createBulk(owner, request);
  await untilBulk(other, id, ({ done }) => done > 0);
  const { body } = await other.call('DELETE', `/api/bulk/${id}`);
  expect(body).toMatchObject({ state: 'Stopped' });
  // The owner has noticed, and what it had in progress is counted.
  await expect
    .poll(() => nodes[0]!.output.includes('bulk job stopped'), { timeout: 20_000 })
    .toBe(true);
  const { done } = await untilBulk(owner, id, () => true);
  const statuses = await Promise.all(ids.map(async (run) => (await other.workflow(run)).status));
  expect(statuses.filter((status) => status === 'Suspended')).toHaveLength(done);
  expect(done).toBeLessThan(ids.length);
  for (const node of nodes) await node.stop();
}, 120_000);
