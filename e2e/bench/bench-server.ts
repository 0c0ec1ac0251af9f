/** The server under test: the build on the embedded store, with its resource usage while something runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SpawnedServer } from '../../server/test/support/spawned-server.ts';
import { HttpClient } from './http-client.ts';
import { usageOf, type Usage } from './process-usage.ts';

export interface Spent extends Usage {
  readonly storeOperations: number;
}

export interface BenchServerOptions {
  /** The main file of another build; if omitted: of this one. */
  readonly main?: string | undefined;
  /** Where each thread of the server writes a CPU profile when it ends; null: no profiles. */
  readonly profilesFolder?: string | null;
  /** Further settings. */
  readonly settings?: Readonly<Record<string, string>>;
}

export class BenchServer {
  readonly client: HttpClient;
  /** From the start of the process to its first successful response. */
  readonly readyMs: number;
  readonly #server: SpawnedServer;
  readonly #folder: string;

  private constructor(server: SpawnedServer, folder: string, readyMs: number) {
    this.#server = server;
    this.#folder = folder;
    this.readyMs = readyMs;
    this.client = new HttpClient(server.url);
  }

  static async start(options: BenchServerOptions = {}): Promise<BenchServer> {
    const { main, profilesFolder = null, settings = {} } = options;
    const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-bench-'));
    const startedAt = performance.now();
    const { dbhost } = process.env;
    const nodeOptions =
      profilesFolder === null
        ? []
        : ['--cpu-prof', `--cpu-prof-dir=${profilesFolder}`, '--cpu-prof-interval=250'];
    const environment = {
      PORT: '0',
      DATA_DIR: folder,
      LOG_LEVEL: 'error',
      ...(dbhost === undefined ? {} : databaseOf(dbhost)),
      ...tracingVariables(),
      ...settings,
    };
    const spawned = await SpawnedServer.start(environment, { main, nodeOptions });
    const server = new BenchServer(spawned, folder, performance.now() - startedAt);
    await server.client.call('GET', '/health/ready');
    return server;
  }

  async spent(): Promise<Spent> {
    const usage = usageOf(this.#server.pid);
    return { ...usage, storeOperations: await storeOperations(this.client) };
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A server that sends traces to a collector of whoever measures. */
function tracingVariables(): Record<string, string> {
  const given = Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_'));
  return Object.fromEntries(given.map(([name, value]) => [name, value ?? '']));
}

/** An empty database on that server; on PostgreSQL a schema of the database in the address. */
function databaseOf(dbhost: string): Record<string, string> {
  const name = `bench_${process.pid}`;
  if (!dbhost.startsWith('postgres')) return { dbhost, db_name: name };
  const address = new URL(dbhost);
  address.searchParams.set('schema', name);
  return { dbhost: address.href };
}

const OPERATION_SERIES =
  /^stepwright_store_operations_total\{[^}]*operation="(\w+)"[^}]*\} (\d+)/gm;

/** How often the server has called each operation of its store so far. */
export async function operationCounts(client: HttpClient): Promise<ReadonlyMap<string, number>> {
  const { json } = await client.call('GET', '/metrics');
  const counts = new Map<string, number>();
  for (const [, name = '', count] of String(json).matchAll(OPERATION_SERIES)) {
    counts.set(name, (counts.get(name) ?? 0) + Number(count));
  }
  return counts;
}

/** All operations that the server has sent to its store so far. */
export async function storeOperations(client: HttpClient): Promise<number> {
  return [...(await operationCounts(client)).values()].reduce((sum, count) => sum + count, 0);
}
