/** MongoDB for tests; see `shared-server.ts`. `TEST_DBHOST` names an existing server. */
import { MongoClient } from 'mongodb';
import { GenericContainer } from 'testcontainers';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { requestServer, startBroker, type ServerContainer } from './shared-server.js';

declare module 'vitest' {
  interface ProvidedContext {
    readonly mongoBrokerUrl: string;
  }
}

const IMAGE = 'mongo:7';
const PORT = 27017;
const READY_TIMEOUT_MS = 60_000;

/** A server for tests, each of which uses its own database name; null if this machine has none. */
export function mongoForTests(): Promise<{ readonly url: string } | null> {
  return requestServer(inject('mongoBrokerUrl'), 'MongoDB');
}

/** A server in a container, for a test that stops or pauses it; the caller stops it at the end. */
export function startMongoContainer(): Promise<ServerContainer> {
  return start(new GenericContainer(IMAGE));
}

/** Tests create hundreds of databases, which takes most of their time on a disk. No test stops this server. */
function startInMemory(): Promise<ServerContainer> {
  return start(new GenericContainer(IMAGE).withTmpFs({ '/data/db': 'rw' }));
}

async function start(image: GenericContainer): Promise<ServerContainer> {
  const container = await image.withExposedPorts(PORT).start();
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
  const broker = await startBroker({
    existing: process.env['TEST_DBHOST'],
    check: waitUntilReady,
    start: startInMemory,
  });
  project.provide('mongoBrokerUrl', broker.url);
  return () => broker.close();
}

async function waitUntilReady(url: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: READY_TIMEOUT_MS });
  try {
    await client.db('admin').command({ ping: 1 });
  } finally {
    await client.close();
  }
}
