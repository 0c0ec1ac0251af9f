/**
 * `pnpm bench:take-over [--open=200000] [--due=20000]`, with `dbhost` set to a MongoDB: one of two nodes dies.
 *
 * The dead node owned `open` runs that wait for an event, a worker or a time far ahead, and `due` runs that became due just
 * before it died. Measured: until the other node has finished what is due, its memory, the store operations that this took,
 * and how long its own short runs take before and meanwhile. The runs are copies of a few that the server itself has
 * stored, because starting 200,000 over HTTP takes minutes. The database is dropped at the end.
 */
import { parseArgs } from 'node:util';
import { MongoClient, type Db } from 'mongodb';
import { SpawnedServer } from '../../server/test/support/spawned-server.ts';
import { HttpClient } from './http-client.ts';
import { latencyOf, type Latency } from './measure.ts';
import { usageOf } from './process-usage.ts';

const FAR_AHEAD_SECONDS = 86_400;
const COPIES_AT_ONCE = 2000;
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
    due: { type: 'string', default: '20000' },
  },
});
const { dbhost } = process.env;
if (dbhost === undefined) throw new Error('Set dbhost to the address of a MongoDB');
await measure(dbhost, Number(values.open), Number(values.due));

async function measure(address: string, open: number, due: number): Promise<void> {
  const name = `bench_take_over_${process.pid}`;
  const mongo = await MongoClient.connect(address);
  const environment = { PORT: '0', LOG_LEVEL: 'error', dbhost: address, db_name: name };
  const servers: SpawnedServer[] = [];
  try {
    const dying = await SpawnedServer.start(environment);
    servers.push(dying);
    const dueAt = await fill(new HttpClient(dying.url), mongo.db(name), { open, due });
    const heir = await SpawnedServer.start(environment);
    servers.push(heir);
    const client = new HttpClient(heir.url);
    const before = await shortRuns(client);
    console.log(`short runs before:        ${words(before)}`);
    const leftMs = dueAt - Date.now();
    if (leftMs < 0) throw new Error('Filling the store took too long: ask for fewer runs');
    await pause(leftMs);
    // Some may have been finished before the node died.
    await dying.kill();
    await watch({ heir, client, db: mongo.db(name), due, before });
  } finally {
    for (const server of servers) await server.kill();
    await mongo.db(name).dropDatabase();
    await mongo.close();
  }
}

interface Heir {
  readonly heir: SpawnedServer;
  readonly client: HttpClient;
  readonly db: Db;
  readonly due: number;
  readonly before: Latency;
}

async function watch({ heir, client, db, due, before }: Heir): Promise<void> {
  const diedAt = performance.now();
  const operationsBefore = await storeOperations(client);
  const instances = db.collection('instances');
  const finished = (): Promise<number> =>
    instances.countDocuments({ definitionId: 'due', status: 'Complete' });
  const doneBefore = await finished();
  const meanwhile = shortRuns(client);
  let firstAt: number | null = null;
  let rssBytes = 0;
  for (let done = doneBefore; done < due; done = await finished()) {
    const sinceMs = performance.now() - diedAt;
    if (sinceMs > PATIENCE_MS) throw new Error(`Only ${done} of ${due} were finished`);
    if (done > doneBefore) firstAt ??= sinceMs;
    rssBytes = Math.max(rssBytes, usageOf(heir.pid).rssBytes);
    await pause(POLL_MS);
  }
  const allMs = performance.now() - diedAt;
  const operations = (await storeOperations(client)) - operationsBefore;
  const during = await meanwhile;
  const left = due - doneBefore;
  const goingOnMs = allMs - (firstAt ?? 0);
  console.log(`left by the dead node:    ${left} of ${due} due`);
  console.log(
    `first of them finished:   ${((firstAt ?? allMs) / 1000).toFixed(1)} s after kill -9`,
  );
  console.log(`all of them finished:     ${(allMs / 1000).toFixed(1)} s after kill -9`);
  console.log(`pace:                     ${Math.round(left / (goingOnMs / 1000))} a second`);
  console.log(`store operations:         ${(operations / left).toFixed(2)} for each`);
  console.log(`memory at most:           ${Math.round(rssBytes / 1e6)} MB, interpreters included`);
  console.log(`short runs meanwhile:     ${words(during)}`);
  console.log(`p99 meanwhile to before:  ${(during.p99Ms / before.p99Ms).toFixed(2)}`);
}

/** One run of each kind, stored by the server and copied. @returns when those that are to be due are */
async function fill(
  client: HttpClient,
  db: Db,
  { open, due }: { readonly open: number; readonly due: number },
): Promise<number> {
  for (const [Id, Steps] of Object.entries(DEFINITIONS)) {
    await client.call('POST', '/api/definition', { Id, Steps });
  }
  const seconds = Math.ceil(30 + (open + due) / 2000);
  const dueAt = Date.now() + seconds * 1000;
  await copies(client, db, { definition: 'due', data: { seconds }, count: due });
  for (const [definition, share] of [
    ['event', 0.6],
    ['far', 0.2],
    ['worker', 0.2],
  ] as const) {
    await copies(client, db, { definition, data: {}, count: Math.round(open * share) });
  }
  return dueAt;
}

interface Original {
  readonly definition: string;
  readonly data: object;
  readonly count: number;
}

async function copies(client: HttpClient, db: Db, original: Original): Promise<void> {
  const { definition, data, count } = original;
  const { json } = await client.call('POST', `/api/workflow/${definition}`, data);
  const { workflowId } = json as { workflowId: string };
  for (const name of ['instances', 'subscriptions', 'activities']) {
    const collection = db.collection<{ _id: string }>(name);
    const owned = name === 'instances' ? { _id: workflowId } : { instanceId: workflowId };
    const [found] = await collection.find(owned).toArray();
    if (found === undefined) continue;
    const text = JSON.stringify(found);
    for (let from = 1; from < count; from += COPIES_AT_ONCE) {
      const length = Math.min(COPIES_AT_ONCE, count - from);
      const made = Array.from({ length }, (_, at) => copyOf(text, workflowId, from + at));
      await collection.insertMany(made, { ordered: false });
    }
  }
}

/** The id stands in the document's own members and in its state. */
function copyOf(text: string, workflowId: string, number: number): { _id: string } {
  return JSON.parse(text.replaceAll(workflowId, `${workflowId}-${number}`)) as { _id: string };
}

function shortRuns(client: HttpClient): Promise<Latency> {
  return latencyOf(SHORT_RUNS, 20, async (a) => {
    await client.call('POST', '/api/workflow/short', { a });
  });
}

async function storeOperations(client: HttpClient): Promise<number> {
  const { json } = await client.call('GET', '/metrics');
  const counts = String(json).matchAll(/^stepwright_store_operations_total\{[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

function words({ p50Ms, p99Ms }: Latency): string {
  return `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
