/**
 * Goal: if a database is unavailable, hangs or comes back, operations fail with StoreUnavailableError in time, and
 * nothing is lost.
 * Method: a separate container is paused, resumed and stopped under the store.
 */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createMongoStore } from '../../src/store/mongo/mongo-store.js';
import type { Store } from '../../src/store/store.js';
import { mongoForTests, startMongoContainer } from '../support/mongo-container.js';
import {
  dockerContainerOf,
  type DockerContainer,
  type ServerContainer,
} from '../support/shared-server.js';
import { expectQuickFailures, expectRefusedStart, testHangingServer } from './support/outages.js';

const GIVES_UP_WITHIN_MS = 3000;
const SLOW = { timeout: 120_000 };

describe('createMongoStore without a server', () => {
  it('fails to start within the time limit, with a plain message that contains no password', async () => {
    const store = createMongoStore({ url: 'mongodb://user:secret@127.0.0.1:1/x' });
    await expectRefusedStart(store, GIVES_UP_WITHIN_MS);
  });
});

const runsContainers =
  (process.env['TEST_DBHOST'] ?? '') === '' && (await mongoForTests()) !== null;

describe.skipIf(!runsContainers)('createMongoStore with a failing server', SLOW, () => {
  let server: ServerContainer;
  let docker: DockerContainer;
  beforeAll(async () => {
    server = await startMongoContainer();
    docker = await dockerContainerOf(server.container);
  });
  afterAll(() => server.container.stop());
  const open = async (): Promise<Store> => {
    const store = createMongoStore({ url: server.url });
    await store.start();
    return store;
  };

  testHangingServer({ open, docker: () => docker, givesUpWithinMs: GIVES_UP_WITHIN_MS });

  it('fails within the time limit when the server is gone, and still stops', async () => {
    const store = await open();
    await server.container.stop();
    await expectQuickFailures(store, GIVES_UP_WITHIN_MS);
    await store.stop();
  });
});
