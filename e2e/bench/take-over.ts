/**
 * `pnpm bench:take-over [--open=200000] [--due=40000]`: a node with many open runs dies. On the embedded store it is
 * restarted; with `dbhost` set to a MongoDB server, a second, live node takes over.
 *
 * `open` runs wait for an event, a worker or a time in the far future; `due` further runs become due when the node
 * dies. Measures the duration of a start, the time until all due runs have finished, memory, store operations, and on
 * MongoDB the duration of short runs on the live node before and during the take-over. Removes everything at the end.
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SpawnedServer } from '../../server/test/support/spawned-server.ts';
import { storeOperations } from './bench-server.ts';
import { copiedRuns } from './copied-runs.ts';
import { HttpClient } from './http-client.ts';
import { latencyOf, type Latency } from './measure.ts';
import { usageOf } from './process-usage.ts';

const FAR_AHEAD_SECONDS = 86_400;
const POLL_MS = 100;
const SHORT_RUNS = 1000;
const PATIENCE_MS = 300_000;

const wait = (step: object): object[] => [{ Id: 'wait', ...step }];
const DEFINITIONS: Readonly<Record<string, readonly object[]>> = {
  event: wait({ StepType: 'WaitFor', Inputs: { EventName: '"never"', EventKey: '"published"' } }),
  worker: wait({ StepType: 'Activity', Inputs: { ActivityName: '"never-taken"' } }),
  far: wait({ StepType: 'Delay', Inputs: { Period: FAR_AHEAD_SECONDS } }),
  due: wait({ StepType: 'Delay', Inputs: { Period: 'data.seconds' } }),
  short: [{ Id: 'add', StepType: 'NoOp', Outputs: { sum: 'data.a + 1' } }],
};

const { values } = parseArgs({
  options: {
    open: { type: 'string', default: '200000' },
    due: { type: 'string', default: '40000' },
  },
});
const open = Number(values.open);
const due = Number(values.due);
const { dbhost } = process.env;

const runs = await copiedRuns(dbhost);
const servers: SpawnedServer[] = [];
try {
  await measure();
} finally {
  for (const server of servers) await server.kill();
  await runs.remove();
}

async function measure(): Promise<void> {
  await (await start('first start, with an empty store')).stop();
  const first = await start('start with an empty store');
  const dueAt = await fill(new HttpClient(first.url));
  const living = dbhost === undefined ? null : await start('start of a second node');
  const dying = living === null ? await restart(first) : first;
  const before = living === null ? null : await shortRuns(new HttpClient(living.url));
  const leftMs = dueAt - Date.now();
  if (leftMs < 0) throw new Error('Filling the store took too long: ask for fewer runs');
  await setTimeout(leftMs);
  await dying.kill();
  await watch(living ?? (await start('start with open runs, after kill -9')), before);
}

async function restart(server: SpawnedServer): Promise<SpawnedServer> {
  await server.stop();
  return start('start with open runs, after a stop');
}

async function start(what: string): Promise<SpawnedServer> {
  const began = performance.now();
  const server = await SpawnedServer.start({ PORT: '0', LOG_LEVEL: 'error', ...runs.environment });
  servers.push(server);
  say(what, `${((performance.now() - began) / 1000).toFixed(2)} s`);
  return server;
}

/** @returns the time at which the due runs become due */
async function fill(client: HttpClient): Promise<number> {
  for (const [Id, Steps] of Object.entries(DEFINITIONS)) {
    await client.call('POST', '/api/definition', { Id, Steps });
  }
  const seconds = Math.ceil(30 + (open + due) / 2000);
  const dueAt = Date.now() + seconds * 1000;
  const shares = { due, event: open * 0.6, far: open * 0.2, worker: open * 0.2 };
  for (const [definition, share] of Object.entries(shares)) {
    const { json } = await client.call('POST', `/api/workflow/${definition}`, { seconds });
    await runs.copy({ ...(json as { workflowId: string }), count: Math.round(share) });
  }
  client.close();
  say('runs in the store', `${open} open, ${due} due later`);
  return dueAt;
}

async function watch(heir: SpawnedServer, before: Latency | null): Promise<void> {
  const client = new HttpClient(heir.url);
  const began = performance.now();
  const operationsBefore = await storeOperations(client);
  const doneBefore = await runs.completed('due');
  const meanwhile = before === null ? null : shortRuns(client);
  let firstMs: number | null = null;
  let rssBytes = 0;
  for (let done = doneBefore; done < due; done = await runs.completed('due')) {
    const sinceMs = performance.now() - began;
    if (sinceMs > PATIENCE_MS) throw new Error(`Only ${done} of ${due} have ended`);
    if (done > doneBefore) firstMs ??= sinceMs;
    rssBytes = Math.max(rssBytes, usageOf(heir.pid).rssBytes);
    await setTimeout(POLL_MS);
  }
  const allMs = performance.now() - began;
  const left = due - doneBefore;
  const operations = (await storeOperations(client)) - operationsBefore;
  say('due when it died', `${left}`);
  say('first ended after', `${((firstMs ?? allMs) / 1000).toFixed(2)} s`);
  say('all ended after', `${(allMs / 1000).toFixed(2)} s`);
  say('pace', `${Math.round((left * 1000) / (allMs - (firstMs ?? 0)))} a second`);
  say('store operations', `${(operations / left).toFixed(2)} for each`);
  say('memory, with interpreters', `${Math.round(rssBytes / 1e6)} MB at most`);
  if (before === null || meanwhile === null) return;
  const during = await meanwhile;
  say('short runs before', words(before));
  say('short runs during the take-over', words(during));
  say('their p99, compared', `${(during.p99Ms / before.p99Ms).toFixed(2)} times`);
}

function shortRuns(client: HttpClient): Promise<Latency> {
  return latencyOf(SHORT_RUNS, 20, async (a) => {
    await client.call('POST', '/api/workflow/short', { a });
  });
}

function words({ p50Ms, p99Ms }: Latency): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
}

function say(what: string, value: string): void {
  console.log(`${what.padEnd(36)} ${value}`);
}
