/** The stores on which every behavior is tested, each reopened for every server that runs on it. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MongoClient } from 'mongodb';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import { createMongoStore } from '../../../src/store/mongo/mongo-store.js';
import { createPostgresStore } from '../../../src/store/postgres/postgres-store.js';
import { createSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';
import type { Store } from '../../../src/store/store.js';
import { openTestSchema } from '../../store/support/postgres-schema.js';
import { mongoForTests } from '../../support/mongo-container.js';
import { postgresForTests } from '../../support/postgres-container.js';

export interface TestStore {
  /** The stored data is kept from one server to the next. */
  open(): Store;
  remove(): Promise<void>;
  /** Where its files are, if it has some. */
  readonly directory?: string;
}

export interface StoreKind {
  readonly kind: Store['kind'];
  /** False if this machine has no such database, which is logged, or if `TEST_STORES` does not name it. */
  readonly available: boolean;
  create(): Promise<TestStore>;
}

/** `TEST_STORES=memory,sqlite` leaves out the others. */
const NAMED = process.env['TEST_STORES']?.split(',');
/** Whether `TEST_STORES` says which stores to test. */
export const ARE_NAMED = NAMED !== undefined;
const isNamed = (kind: StoreKind['kind']): boolean => NAMED === undefined || NAMED.includes(kind);

const mongo = isNamed('mongo') ? await mongoForTests() : null;
const postgres = isNamed('postgres') ? await postgresForTests() : null;

export const STORE_KINDS: readonly StoreKind[] = [
  {
    kind: 'memory',
    available: true,
    async create() {
      const store = createMemoryStore();
      return { open: () => store, remove: async () => undefined };
    },
  },
  {
    kind: 'sqlite',
    available: isNamed('sqlite'),
    async create() {
      const directory = await mkdtemp(path.join(tmpdir(), 'stepwright-behavior-'));
      return {
        directory,
        open: () => createSqliteStore({ path: path.join(directory, 'stepwright.db') }),
        remove: () => rm(directory, { recursive: true, force: true }),
      };
    },
  },
  {
    kind: 'mongo',
    available: mongo !== null,
    async create() {
      const url = mongo?.url ?? '';
      const databaseName = `behavior-${randomUUID()}`;
      return {
        // Several processes run tests on one machine; the timeouts for production are not under test here.
        open: () => createMongoStore({ url, databaseName, operationTimeoutMs: 20_000 }),
        async remove() {
          const client = new MongoClient(url);
          await client.db(databaseName).dropDatabase();
          await client.close();
        },
      };
    },
  },
  {
    kind: 'postgres',
    available: postgres !== null,
    async create() {
      const schema = await openTestSchema(postgres?.url ?? '');
      return {
        open: () =>
          createPostgresStore({ url: schema.url, operationTimeoutMs: 20_000, poolMax: 4 }),
        remove: () => schema.drop(),
      };
    },
  },
];
