/**
 * One PostgreSQL for a whole test run, started when the first test file requests it.
 *
 * Vitest runs this file's `setup` in its main process (see `globalSetup` in vitest.config.ts). Test files run in other
 * processes and request it over HTTP on the loopback. `TEST_POSTGRES` names an existing server.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresBrokerUrl: string;
  }
}

/** The response of the main process. */
type BrokerAnswer = { readonly url: string } | { readonly problem: string };

export interface PostgresContainer {
  readonly url: string;
  readonly container: StartedTestContainer;
}

const IMAGE = 'postgres:15';
const PORT = 5432;
/** Tests open several stores at once. */
const CONNECTIONS_MAX = 200;

/**
 * A server for tests, each of which creates its own database; null if this machine has none, with a prominent message,
 * because the tests that need it are then skipped.
 */
export async function postgresForTests(): Promise<{ readonly url: string } | null> {
  const response = await fetch(inject('postgresBrokerUrl'));
  // The response comes from `setup` below.
  const answer = (await response.json()) as BrokerAnswer;
  if ('url' in answer) return answer;
  console.warn(`\n*** PostgreSQL is NOT COVERED by this test run: ${answer.problem} ***\n`);
  return null;
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
}

/** A server in a container, for a test that stops or pauses it; the caller stops it at the end. */
export async function startPostgresContainer({
  files = {},
  keepsPort = false,
  settings = [],
}: PostgresContainerOptions = {}): Promise<PostgresContainer> {
  const flags = [`max_connections=${CONNECTIONS_MAX}`, ...settings].flatMap((flag) => ['-c', flag]);
  const container = await new GenericContainer(IMAGE)
    .withEnvironment({ POSTGRES_USER: 'stepwright', POSTGRES_PASSWORD: 'secret' })
    .withCommand(['postgres', ...flags])
    .withCopyContentToContainer(
      Object.entries(files).map(([target, content]) => ({ target, content })),
    )
    .withExposedPorts(keepsPort ? { container: PORT, host: await freePort() } : PORT)
    // The first time it is the server that only prepares the database.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
    .start();
  return { url: urlOf(container), container };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function urlOf(container: StartedTestContainer): string {
  const port = container.getMappedPort(PORT);
  return `postgres://stepwright:secret@${container.getHost()}:${port}/stepwright`;
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<PostgresContainer> | null = null;
  const answer = async (): Promise<BrokerAnswer> => {
    const given = process.env['TEST_POSTGRES'];
    try {
      if (given !== undefined && given !== '') {
        await runOn(given, 'SELECT 1');
        return { url: given };
      }
      started ??= startPostgresContainer();
      return { url: (await started).url };
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) };
    }
  };
  const broker = createServer((_request, response) => {
    void answer().then((body) => response.end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this type.
  const { port } = broker.address() as AddressInfo;
  project.provide('postgresBrokerUrl', `http://127.0.0.1:${port}/`);
  return async () => {
    broker.close();
    broker.closeAllConnections();
    const running = await started?.catch(() => null);
    await running?.container.stop();
  };
}
