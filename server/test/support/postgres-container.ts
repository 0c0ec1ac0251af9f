/** PostgreSQL for tests; see `shared-server.ts`. `TEST_POSTGRES` names an existing server. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { freePort } from '../../../sdk/test/support/free-port.js';
import { requestServer, startBroker, type ServerContainer } from './shared-server.js';

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresBrokerUrl: string;
  }
}

const IMAGE = 'postgres:15';
const PORT = 5432;
/** Tests open several stores at once. */
const CONNECTIONS_MAX = 200;

/** A server for tests, each of which creates its own database; null if this machine has none. */
export function postgresForTests(): Promise<{ readonly url: string } | null> {
  return requestServer(inject('postgresBrokerUrl'), 'PostgreSQL');
}

/** The address of a new database on this server, and how to remove it. */
export async function createTestDatabase(
  serverUrl: string,
): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const name = `test-${randomUUID()}`;
  await runOn(serverUrl, `CREATE DATABASE "${name}"`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => runOn(serverUrl, `DROP DATABASE "${name}" WITH (FORCE)`),
  };
}

export async function runOn(url: string, statement: string): Promise<void> {
  await queryOn(url, statement);
}

/** The column `value` of the first row. */
export async function valueOn<Value>(url: string, query: string): Promise<Value> {
  const [row] = await queryOn(url, query);
  return row?.['value'] as Value; // What the query says.
}

async function queryOn(
  url: string,
  text: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  } finally {
    await client.end();
  }
}

export interface PostgresContainerOptions {
  /** Flags of the server: `name=value`. */
  readonly settings?: readonly string[];
  /** Files to copy into the container before it starts: their contents by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** The same port of this machine after a restart. */
  readonly keepsPort?: boolean;
  /** Keeps the data in memory: faster, but gone after a restart. */
  readonly inMemory?: boolean;
}

/** What makes a database survive a power failure, and takes most of the time of small transactions. */
const WITHOUT_DISK = ['fsync=off', 'full_page_writes=off'];

/** A server in a container, for a test that stops or pauses it; the caller stops it at the end. */
export async function startPostgresContainer({
  files = {},
  inMemory = false,
  keepsPort = false,
  settings = [],
}: PostgresContainerOptions = {}): Promise<ServerContainer> {
  const flags = [`max_connections=${CONNECTIONS_MAX}`, ...settings].flatMap((flag) => ['-c', flag]);
  const container = await new GenericContainer(IMAGE)
    .withEnvironment({ POSTGRES_USER: 'stepwright', POSTGRES_PASSWORD: 'secret' })
    .withCommand(['postgres', ...flags])
    .withCopyContentToContainer(
      Object.entries(files).map(([target, content]) => ({ target, content })),
    )
    .withTmpFs(inMemory ? { '/var/lib/postgresql/data': 'rw' } : {})
    .withExposedPorts(keepsPort ? { container: PORT, host: await freePort() } : PORT)
    // The first time it is the server that only prepares the database.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
    .start();
  return { url: urlOf(container), container };
}

function urlOf(container: StartedTestContainer): string {
  const port = container.getMappedPort(PORT);
  return `postgres://stepwright:secret@${container.getHost()}:${port}/stepwright`;
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const broker = await startBroker({
    existing: process.env['TEST_POSTGRES'],
    check: (url) => runOn(url, 'SELECT 1'),
    start: () => startPostgresContainer({ inMemory: true, settings: WITHOUT_DISK }),
  });
  project.provide('postgresBrokerUrl', broker.url);
  return () => broker.close();
}
