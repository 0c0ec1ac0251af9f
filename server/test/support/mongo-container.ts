/**
 * One MongoDB for a whole test run, started when the first test file requests it.
 *
 * Vitest runs this file's `setup` in its main process (see `globalSetup` in vitest.config.ts). Test files run in other
 * processes and request it over HTTP on the loopback. `TEST_DBHOST` names an existing server.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MongoClient } from 'mongodb';
import { GenericContainer, type StartedTestContainer } from 'testcontainers';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly mongoBrokerUrl: string;
  }
}

/** The response of the main process. */
type BrokerAnswer = { readonly url: string } | { readonly problem: string };

const IMAGE = 'mongo:7';
const PORT = 27017;
const READY_TIMEOUT_MS = 60_000;

/**
 * A server for tests, each of which uses its own database name; null if this machine has none, with a prominent
 * message, because the tests that need it are then skipped.
 */
export async function mongoForTests(): Promise<{ readonly url: string } | null> {
  const response = await fetch(inject('mongoBrokerUrl'));
  // The response comes from `setup` below.
  const answer = (await response.json()) as BrokerAnswer;
  if ('url' in answer) return answer;
  console.warn(`\n*** MongoDB is NOT COVERED by this test run: ${answer.problem} ***\n`);
  return null;
}

/** A server in a container, for a test that stops or pauses it; the caller stops it at the end. */
export async function startMongoContainer(): Promise<{
  readonly url: string;
  readonly container: StartedTestContainer;
}> {
  const container = await new GenericContainer(IMAGE).withExposedPorts(PORT).start();
  const url = `mongodb://${container.getHost()}:${container.getMappedPort(PORT)}`;
  try {
    await waitUntilReady(url);
  } catch (error) {
    await container.stop();
    throw error;
  }
  return { url, container };
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<Awaited<ReturnType<typeof startMongoContainer>>> | null = null;
  const answer = async (): Promise<BrokerAnswer> => {
    const given = process.env['TEST_DBHOST'];
    try {
      if (given !== undefined && given !== '') {
        await waitUntilReady(given);
        return { url: given };
      }
      started ??= startMongoContainer();
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
  project.provide('mongoBrokerUrl', `http://127.0.0.1:${port}/`);
  return async () => {
    broker.close();
    broker.closeAllConnections();
    const running = await started?.catch(() => null);
    await running?.container.stop();
  };
}

async function waitUntilReady(url: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: READY_TIMEOUT_MS });
  try {
    await client.db('admin').command({ ping: 1 });
  } finally {
    await client.close();
  }
}
