/**
 * `dbhost=postgres://… pnpm bench:growth [--nodes=1,2,4] [--runs=3000] [--database-pid=N]`: the CPU time of a run by the
 * number of nodes on one database, for each kind of run.
 *
 * All nodes share the cores of this machine, so the time by the clock says nothing; the CPU time of the nodes and of the
 * database does. Calls go to the nodes in rotation, so most runs are completed by calls to other nodes than their own.
 * With the process id of the database's main process, its CPU time is shown too.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { SpawnedServer } from '../../server/test/support/spawned-server.ts';
import { HttpClient } from './http-client.ts';
import { throughputOf } from './measure.ts';
import { defineRuns, newLoad, startRun, workUntilOver, type RunKind } from './mixed-runs.ts';
import { usageOf } from './process-usage.ts';

const KINDS: readonly RunKind[] = ['three', 'activity', 'event', 'delay'];
const IN_PROGRESS = 32;
const WORKERS = 16;
const WARM_UP_RUNS = 500;
/** By then, the nodes know each other. */
const INTRODUCTION_MS = 8000;
const IDLE_SECONDS = 20;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1,2,4' },
    runs: { type: 'string', default: '3000' },
    'database-pid': { type: 'string' },
  },
});
const { dbhost } = process.env;
if (dbhost?.startsWith('postgres') !== true) throw new Error('Set dbhost to a PostgreSQL address');
const databasePid = values['database-pid'] === undefined ? null : Number(values['database-pid']);
const runs = Number(values.runs);
const database = new pg.Client({ connectionString: dbhost });
await database.connect();
for (const count of values.nodes.split(',')) await measureFleet(Number(count), dbhost);
await database.end();

async function measureFleet(count: number, address: string): Promise<void> {
  const schema = `bench_growth_${process.pid}_${count}`;
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-growth-'));
  const servers = await Promise.all(
    Array.from({ length: count }, () =>
      SpawnedServer.start({
        PORT: '0',
        LOG_LEVEL: 'error',
        DATA_DIR: folder,
        PYTHON_SPARES: '0',
        dbhost: `${address}${address.includes('?') ? '&' : '?'}schema=${schema}`,
      }),
    ),
  );
  const clients = servers.map(({ url }) => new HttpClient(url));
  try {
    await setTimeout(INTRODUCTION_MS);
    await measureKinds(servers, clients);
  } finally {
    for (const client of clients) client.close();
    for (const server of servers) await server.stop();
    await database.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureKinds(
  servers: readonly SpawnedServer[],
  clients: readonly HttpClient[],
): Promise<void> {
  let calls = 0;
  const pick = (): HttpClient => {
    calls += 1;
    const client = clients[calls % clients.length];
    if (client === undefined) throw new RangeError('There is no node');
    return client;
  };
  await defineRuns(pick());
  const idle = await spentBy(servers, () => setTimeout(IDLE_SECONDS * 1000));
  console.log(
    `${servers.length} nodes, idle: CPU ms a second: nodes ${(idle.nodes / IDLE_SECONDS).toFixed(1)}, ` +
      `database ${(idle.database / IDLE_SECONDS).toFixed(1)}`,
  );
  const load = newLoad();
  const workers = Array.from({ length: WORKERS }, () => workUntilOver(pick, load));
  for (const kind of KINDS) {
    const run = async (n: number): Promise<void> => {
      const id = await startRun(pick, kind, n);
      // All kinds are waited for in the same way, although `three` has ended by then.
      await pick().call('GET', `/api/workflow/${id}?wait=30`);
    };
    await throughputOf(WARM_UP_RUNS, IN_PROGRESS, run);
    const spent = await spentBy(servers, () => throughputOf(runs, IN_PROGRESS, run));
    console.log(
      `${servers.length} nodes, ${kind.padEnd(8)}: CPU ms of a run: nodes ${(spent.nodes / runs).toFixed(2)}, ` +
        `database ${(spent.database / runs).toFixed(2)}; transactions of a run: ${(spent.transactions / runs).toFixed(2)}`,
    );
  }
  load.isOver = true;
  await Promise.all(workers);
}

interface Spent {
  /** In ms of CPU time. */
  readonly nodes: number;
  readonly database: number;
  readonly transactions: number;
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
  // Sessions report their counters once a second.
  await setTimeout(1500);
  const { rows } = await database.query<{ readonly count: string }>(
    'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return {
    nodes: servers.reduce((sum, { pid }) => sum + usageOf(pid).cpuMs, 0),
    database: databasePid === null ? 0 : usageOf(databasePid).cpuMs,
    transactions: Number(rows[0]?.count),
  };
}
