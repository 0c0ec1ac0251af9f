/**
 * S-56 on PostgreSQL and MongoDB: floods.nightly.ts with a database server of its own. The criterion is the CPU time of the
 * server and the database together: a query that delays others is work of the database. The database works on other
 * statements at the same time, so the limit is twice that of the embedded store.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getContainerRuntimeClient } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.js';
import { startMongoContainer } from '../support/mongo-container.js';
import { startPostgresContainer } from '../support/postgres-container.js';
import type { ServerContainer } from '../support/shared-server.js';
import { expectUnharmed, FloodedServer, summaryOf, type FloodDatabase } from './support/flood.js';
import { LARGE_SIZES } from './support/flood-subjects.js';
import { OPERATIONS } from './support/recorder.js';

const OTHER_CPU_MS_MAX = 1000;
/** Hundreds of subjects are stored at the same time. */
const FILL_TIMEOUT_MS = 60_000;

interface Database {
  readonly name: string;
  /** What a flood may still do to others: see SECURITY.md. */
  readonly notYet: readonly string[];
  start(): Promise<ServerContainer>;
  of(url: string): Omit<FloodDatabase, 'pid'>;
}

const DATABASES: readonly Database[] = [
  {
    name: 'PostgreSQL',
    notYet: [],
    start: () => startPostgresContainer(),
    of: (url) => ({
      environment: { dbhost: url },
      open: () => createPostgresStore({ url, operationTimeoutMs: FILL_TIMEOUT_MS }),
    }),
  },
  {
    name: 'MongoDB',
    notYet: ['PATCH /api/workflow'],
    start: startMongoContainer,
    of: (url) => ({
      environment: { dbhost: url, db_name: 'floods' },
      open: () =>
        createMongoStore({ url, databaseName: 'floods', operationTimeoutMs: FILL_TIMEOUT_MS }),
    }),
  },
];

const hasDocker = await getContainerRuntimeClient().then(
  () => true,
  () => false,
);

describe.skipIf(!hasDocker).for(DATABASES)('S-56 a flood of one caller on $name', (database) => {
  let folder: string;
  let container: ServerContainer['container'] | undefined;
  let server: FloodedServer | undefined;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stepwright-floods-'));
    const started = await database.start();
    container = started.container;
    const pid = await pidOf(started.container.getId());
    server = await FloodedServer.start(folder, {
      sizes: LARGE_SIZES,
      parallel: 500,
      database: { ...database.of(started.url), pid },
    });
  }, 600_000);
  afterAll(async () => {
    await server?.stop();
    await container?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const operations = OPERATIONS.filter((operation) => !database.notYet.includes(operation));
  it.for(operations)('harms no other caller with %s', { timeout: 240_000 }, async (operation) => {
    const report = await server!.flood(operation);
    console.log(summaryOf(report));
    expectUnharmed(report, OTHER_CPU_MS_MAX);
  });
});

/** The database's first process. */
async function pidOf(containerId: string): Promise<number> {
  const { container } = await getContainerRuntimeClient();
  const { Pid } = (await container.getById(containerId).inspect()).State;
  expect(Pid).toBeGreaterThan(0);
  return Pid;
}
