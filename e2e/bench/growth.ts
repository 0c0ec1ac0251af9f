/**
 * `dbhost=postgres://… pnpm bench:growth [--nodes=1,4] [--runs=1000] [--rounds=3] [--database-pid=N] [--operations]`: what a run
 * costs by the number of nodes on one database, for each kind of run. `dbhost=mongodb://… redis=redis://…` measures MongoDB.
 * With `--operations`, the operations of the store are listed, too.
 *
 * All nodes share the cores of this machine, so the time by the clock says nothing; the CPU time of the nodes and of the
 * database does. Fleets of different sizes alternate, and every node gets the same work, whatever the size: warm-up, runs in
 * progress, workers and runs. Calls go to the nodes in rotation, as from a load balancer that knows nothing of runs. With the
 * process id of the database's main process, its CPU time counts, too.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { SpawnedServer } from '../../server/test/support/spawned-server.ts';
import { operationCounts } from './bench-server.ts';
import { openGrowthDatabase } from './growth-database.ts';
import { HttpClient } from './http-client.ts';
import { throughputOf } from './measure.ts';
import { defineRuns, newLoad, startRun, workUntilOver, type RunKind } from './mixed-runs.ts';
import { usageOf } from './process-usage.ts';

const KINDS: readonly RunKind[] = ['three', 'activity', 'event', 'delay'];
/** For each node. */
const IN_PROGRESS = 32;
const WORKERS = 16;
const WARM_UP_RUNS = 500;
/** By then, the nodes know each other. */
const INTRODUCTION_MS = 18_000;
const IDLE_SECONDS = 20;
/** Operations of fewer calls for each run aren't listed. */
const SHOWN_MIN = 0.02;

interface Spent {
  /** In ms of CPU time. */
  readonly nodes: number;
  readonly database: number;
  /** NaN: the database doesn't count them. */
  readonly transactions: number;
}

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1,4' },
    runs: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    'database-pid': { type: 'string' },
    operations: { type: 'boolean', default: false },
  },
});
const databasePid = values['database-pid'] === undefined ? null : Number(values['database-pid']);
const runsOfNode = Number(values.runs);
const sizes = values.nodes.split(',').map(Number);
/** By what was measured, and the number of nodes. */
const samples = new Map<string, Map<number, Spent[]>>();
const database = await openGrowthDatabase();
for (let round = 1; round <= Number(values.rounds); round += 1) {
  for (const size of round % 2 === 1 ? sizes : sizes.toReversed()) {
    console.log(`round ${round}, nodes: ${size}`);
    await measureFleet(size);
  }
}
await database.close();
printTable();

async function measureFleet(size: number): Promise<void> {
  const name = `bench_growth_${process.pid}_${size}`;
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-growth-'));
  const settings = { PORT: '0', LOG_LEVEL: 'error', DATA_DIR: folder, PYTHON_SPARES: '0' };
  const environment = { ...settings, ...database.environmentOf(name) };
  const servers = await Promise.all(
    Array.from({ length: size }, () => SpawnedServer.start(environment)),
  );
  const clients = servers.map(({ url }) => new HttpClient(url));
  try {
    await setTimeout(INTRODUCTION_MS);
    await measureKinds(servers, clients);
  } finally {
    for (const client of clients) client.close();
    for (const server of servers) await server.stop();
    await database.remove(name);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureKinds(
  servers: readonly SpawnedServer[],
  clients: readonly HttpClient[],
): Promise<void> {
  const size = servers.length;
  let calls = 0;
  const pick = (): HttpClient => {
    calls += 1;
    const client = clients[calls % size];
    if (client === undefined) throw new RangeError('There is no node');
    return client;
  };
  await defineRuns(pick());
  const measure = async (what: string, by: number, work: () => Promise<unknown>): Promise<void> => {
    const before = values.operations ? await operationsOf(clients) : null;
    record(what, size, divided(await spentBy(servers, work), by));
    if (before !== null) printOperations(before, await operationsOf(clients), by);
  };
  await measure('idle, a second', IDLE_SECONDS, () => setTimeout(IDLE_SECONDS * 1000));
  const load = newLoad();
  const workers = Array.from({ length: WORKERS * size }, () => workUntilOver(pick, load));
  for (const kind of KINDS) {
    const run = async (n: number): Promise<void> => {
      const id = await startRun(pick, kind, n);
      // All kinds are waited for in the same way, although `three` has ended by then.
      await pick().call('GET', `/api/workflow/${id}?wait=30`);
    };
    await throughputOf(WARM_UP_RUNS * size, IN_PROGRESS * size, run);
    const runs = runsOfNode * size;
    await measure(kind, runs, () => throughputOf(runs, IN_PROGRESS * size, run));
  }
  load.isOver = true;
  await Promise.all(workers);
}

function divided({ database: ofDatabase, nodes, transactions }: Spent, by: number): Spent {
  return { nodes: nodes / by, database: ofDatabase / by, transactions: transactions / by };
}

async function spentBy(
  servers: readonly SpawnedServer[],
  work: () => Promise<unknown>,
): Promise<Spent> {
  const before = await spentSoFar(servers);
  await work();
  const after = await spentSoFar(servers);
  return {
    nodes: after.nodes - before.nodes,
    database: after.database - before.database,
    transactions: after.transactions - before.transactions,
  };
}

async function spentSoFar(servers: readonly SpawnedServer[]): Promise<Spent> {
  return {
    transactions: (await database.transactions()) ?? Number.NaN,
    nodes: servers.reduce((sum, { pid }) => sum + usageOf(pid).cpuMs, 0),
    database: databasePid === null ? 0 : usageOf(databasePid).cpuMs,
  };
}

/** How often the nodes have called each operation of the store so far, together. */
async function operationsOf(clients: readonly HttpClient[]): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  for (const client of clients) {
    for (const [name, count] of await operationCounts(client)) {
      sums.set(name, (sums.get(name) ?? 0) + count);
    }
  }
  return sums;
}

function printOperations(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  runs: number,
): void {
  const each = [...after]
    .map(([name, count]) => ({ name, count: (count - (before.get(name) ?? 0)) / runs }))
    .filter(({ count }) => count >= SHOWN_MIN)
    .toSorted((left, right) => right.count - left.count);
  console.log(`    ${each.map(({ name, count }) => `${name} ${count.toFixed(2)}`).join(', ')}`);
}

function record(measured: string, size: number, spent: Spent): void {
  const bySize = samples.get(measured) ?? new Map<number, Spent[]>();
  samples.set(measured, bySize.set(size, [...(bySize.get(size) ?? []), spent]));
  console.log(`  ${measured.padEnd(16)}${textOf(spent)}`);
}

/** The medians, and how many times as much as the first fleet's they are. */
function printTable(): void {
  console.log('\nMedians, for one run: CPU ms of nodes + database; transactions; times the first');
  for (const [measured, bySize] of samples) {
    let first: Spent | null = null;
    for (const [size, all] of bySize) {
      const median = medianOf(all);
      first ??= median;
      const cost = totalOf(median) / totalOf(first);
      const transactions = median.transactions / first.transactions;
      console.log(
        `${measured.padEnd(16)}${`${size}`.padStart(3)} nodes  ${textOf(median)}  ` +
          `cost ${cost.toFixed(2)} times, transactions ${transactions.toFixed(2)} times`,
      );
    }
  }
}

function medianOf(all: readonly Spent[]): Spent {
  const sorted = all.toSorted((left, right) => totalOf(left) - totalOf(right));
  const median = sorted[Math.floor(sorted.length / 2)];
  if (median === undefined) throw new RangeError('Nothing was measured');
  return median;
}

function totalOf({ database: ofDatabase, nodes }: Spent): number {
  return nodes + ofDatabase;
}

function textOf({ database: ofDatabase, nodes, transactions }: Spent): string {
  return `${nodes.toFixed(2)} + ${ofDatabase.toFixed(2)} ms; ${transactions.toFixed(2)}`;
}
