/**
 * `dbhost=postgres://… pnpm bench:steady [--minutes=30] [--rate=200] [--retention=90] [--database-pid=N]`: starts runs at
 * a fixed rate while retention removes the ended ones, and prints once a minute what the tables have grown to.
 *
 * Of ten runs, eight have three steps, one waits for a worker and one for an event. The runs are in a schema of their own,
 * which is removed at the end. With the process id of the database's main process, its CPU time is shown too.
 * `E2E_SERVER_MAIN` names another build.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { SpawnedServer } from '../../server/test/support/spawned-server.ts';
import { HttpClient } from './http-client.ts';
import {
  defineRuns,
  newLoad,
  startAtRate,
  workUntilOver,
  type MixedLoad,
  type RunKind,
} from './mixed-runs.ts';
import { usageOf } from './process-usage.ts';

const WORKERS = 4;
const MIX: readonly RunKind[] = [
  'activity',
  'three',
  'three',
  'three',
  'three',
  'event',
  'three',
  'three',
  'three',
  'three',
];

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '200' },
    retention: { type: 'string', default: '90' },
    'database-pid': { type: 'string' },
  },
});
const { dbhost } = process.env;
if (dbhost?.startsWith('postgres') !== true) throw new Error('Set dbhost to a PostgreSQL address');
const minutes = Number(values.minutes);
const rate = Number(values.rate);
const databasePid = values['database-pid'] === undefined ? null : Number(values['database-pid']);

interface Sample {
  readonly rows: number;
  readonly deadRows: number;
  readonly bytes: number;
  readonly rssMb: number;
}

const schema = `bench_steady_${process.pid}`;
const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-steady-'));
const database = new pg.Client({ connectionString: dbhost });
await database.connect();
const settings = {
  PORT: '0',
  LOG_LEVEL: 'error',
  DATA_DIR: folder,
  dbhost: `${dbhost}${dbhost.includes('?') ? '&' : '?'}schema=${schema}`,
  INSTANCE_RETENTION_SECONDS: values.retention,
  EVENT_RETENTION_SECONDS: values.retention,
};
const server = await SpawnedServer.start(settings, { main: process.env['E2E_SERVER_MAIN'] });
const client = new HttpClient(server.url);
try {
  await measure();
} finally {
  client.close();
  await server.stop();
  await database.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await database.end();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  await defineRuns(client);
  const load = newLoad();
  const pick = (): HttpClient => client;
  const running = Promise.all([
    startAtRate(pick, { load, mix: MIX, rate }),
    ...Array.from({ length: WORKERS }, () => workUntilOver(pick, load)),
  ]);
  const samples: Sample[] = [];
  try {
    for (let minute = 1; minute <= minutes; minute += 1) {
      const before = await counters(load);
      await setTimeout(60_000);
      samples.push(await report(minute, before, load));
    }
  } finally {
    load.isOver = true;
    await running;
  }
  conclude(samples);
}

interface Counters {
  readonly started: number;
  readonly cpuMs: number;
  readonly databaseCpuMs: number;
  readonly walBytes: number;
}

async function counters({ started }: MixedLoad): Promise<Counters> {
  const { rows } = await database.query<{ readonly bytes: string }>(
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes`,
  );
  return {
    started,
    cpuMs: usageOf(server.pid).cpuMs,
    databaseCpuMs: databasePid === null ? 0 : usageOf(databasePid).cpuMs,
    walBytes: Number(rows[0]?.bytes),
  };
}

interface TableSize {
  readonly name: string;
  readonly rows: number;
  readonly dead: number;
  readonly updates: number;
  readonly hot: number;
  readonly vacuums: number;
  readonly table: number;
  readonly indexes: number;
}

async function tableSizes(): Promise<readonly TableSize[]> {
  const { rows } = await database.query<TableSize>(
    `SELECT relname AS name, n_live_tup::float8 AS rows, n_dead_tup::float8 AS dead, n_tup_upd::float8 AS updates,
            n_tup_hot_upd::float8 AS hot, autovacuum_count::float8 AS vacuums,
            pg_table_size(relid)::float8 AS table, pg_indexes_size(relid)::float8 AS indexes
       FROM pg_stat_user_tables WHERE schemaname = $1 AND pg_total_relation_size(relid) > 100000
      ORDER BY pg_total_relation_size(relid) DESC`,
    [schema],
  );
  return rows;
}

async function report(minute: number, before: Counters, load: MixedLoad): Promise<Sample> {
  const after = await counters(load);
  const runs = Math.max(1, after.started - before.started);
  const { rssBytes } = usageOf(server.pid);
  const each = (value: number): string => (value / runs).toFixed(2);
  console.log(
    `minute ${minute}: ${(runs / 60).toFixed(0)} started a second, ${load.skipped} skipped, ${load.failed} failed; ` +
      `CPU ms of a run: node ${each(after.cpuMs - before.cpuMs)}, ` +
      `database ${each(after.databaseCpuMs - before.databaseCpuMs)}; ` +
      `WAL ${each(after.walBytes - before.walBytes)} bytes of a run; node ${megabytes(rssBytes)} MB`,
  );
  const tables = await tableSizes();
  for (const table of tables) {
    const hot = table.updates === 0 ? 0 : Math.round((table.hot * 100) / table.updates);
    console.log(
      `  ${table.name.padEnd(14)} ${String(table.rows).padStart(7)} rows ${String(table.dead).padStart(7)} dead ` +
        `${megabytes(table.table).padStart(7)} MB ${megabytes(table.indexes).padStart(7)} MB of indexes, ` +
        `${hot} % HOT, ${table.vacuums} vacuums`,
    );
  }
  const sum = (valueOf: (table: TableSize) => number): number =>
    tables.reduce((total, table) => total + valueOf(table), 0);
  return {
    rows: sum(({ rows }) => rows),
    deadRows: sum(({ dead }) => dead),
    bytes: sum((table) => table.table + table.indexes),
    rssMb: rssBytes / 1e6,
  };
}

/** The last quarter beside the second: what levels off is about the same in both. */
function conclude(samples: readonly Sample[]): void {
  const quarter = (number: number): readonly Sample[] =>
    samples.slice((samples.length * (number - 1)) / 4, (samples.length * number) / 4);
  for (const name of ['rows', 'deadRows', 'bytes', 'rssMb'] as const) {
    const mean = (part: readonly Sample[]): number =>
      part.reduce((sum, sample) => sum + sample[name], 0) / Math.max(1, part.length);
    const [second, last] = [mean(quarter(2)), mean(quarter(4))];
    console.log(
      `${name.padEnd(9)} second quarter ${second.toFixed(0).padStart(10)}, last quarter ${last.toFixed(0).padStart(10)}, ` +
        `${(last / second).toFixed(2)} times`,
    );
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
