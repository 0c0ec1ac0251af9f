/** A server that counts everything that reaches its store: its operations, and the commands that they send to a database. */
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { createMongoStore } from '../../../src/store/mongo/mongo-store.js';
import { observeStore } from '../../../src/store/observed-store.js';
import { createPostgresStore } from '../../../src/store/postgres/postgres-store.js';
import type { Store } from '../../../src/store/store.js';
import { Client } from '../../behavior/support/client.js';
import { startServer } from '../../behavior/support/server.js';
import { STORE_KINDS } from '../../behavior/support/stores.js';
import { openTestSchema } from '../../store/support/postgres-schema.js';
import { mongoForTests } from '../../support/mongo-container.js';
import { postgresForTests } from '../../support/postgres-container.js';
import type { TimedCall } from './call-rate.js';

/** The periodic operations of a node, with or without work; the idle case counts them too. */
export const HOUSEKEEPING: ReadonlySet<string> = new Set([
  'putNode',
  'listNodes',
  'findDueInstances',
  'findAvailableActivities',
  'findUndeliveredEvents',
  'findUnsettledActivities',
  'purge',
]);
export const MONGO_WRITES: ReadonlySet<string> = new Set([
  'insert',
  'update',
  'delete',
  'findAndModify',
]);
export const MONGO_READS: ReadonlySet<string> = new Set(['find', 'aggregate', 'count', 'distinct']);
const FEWEST_OF = 10;
/** Every statement on PostgreSQL counts as this command. */
const STATEMENT = 'statement';
export const POSTGRES_STATEMENTS: ReadonlySet<string> = new Set([STATEMENT]);

interface OpenedStore {
  readonly store: Store;
  readonly remove: () => Promise<void>;
}

export interface CountedKind {
  readonly kind: Store['kind'];
  readonly available: boolean;
  /** A store that records the commands which it sends, and how to remove it. */
  readonly open: (commands: string[]) => Promise<OpenedStore>;
}

const mongo = await mongoForTests();
const postgres = await postgresForTests();

export const COUNTED: readonly CountedKind[] = [
  {
    kind: 'sqlite',
    available: true,
    open: async () => {
      const created = await STORE_KINDS.find(({ kind }) => kind === 'sqlite')!.create();
      return { store: created.open(), remove: () => created.remove() };
    },
  },
  {
    kind: 'mongo',
    available: mongo !== null,
    open: async (commands) => {
      const url = mongo?.url ?? '';
      const databaseName = `counts-${randomUUID()}`;
      const onCommand = (name: string): void => void commands.push(name);
      const store = createMongoStore({ url, databaseName, operationTimeoutMs: 20_000, onCommand });
      return {
        store,
        remove: async () => {
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
    open: async (commands) => {
      const schema = await openTestSchema(postgres?.url ?? '');
      const store = createPostgresStore({
        url: schema.url,
        operationTimeoutMs: 20_000,
        onStatement: () => void commands.push(STATEMENT),
        // As in a fleet, whose nodes follow the clock of the database.
        onServerTime: () => undefined,
      });
      return { store, remove: () => schema.drop() };
    },
  },
];

/** What reached the store during an action, without concurrent housekeeping. */
interface Counts {
  readonly writes: string[];
  readonly reads: string[];
  readonly commands: string[];
}

export class CountedServer {
  readonly client: Client;
  readonly calls: TimedCall[];
  readonly commands: string[];
  readonly stop: () => Promise<void>;
  readonly #unfinished: () => number;

  private constructor(
    parts: Pick<CountedServer, 'client' | 'calls' | 'commands' | 'stop'>,
    unfinished: () => number,
  ) {
    this.client = parts.client;
    this.calls = parts.calls;
    this.commands = parts.commands;
    this.stop = parts.stop;
    this.#unfinished = unfinished;
  }

  static async start({ open }: CountedKind): Promise<CountedServer> {
    const calls: TimedCall[] = [];
    const commands: string[] = [];
    let unfinished = 0;
    const opened = await open(commands);
    const server = await startServer({
      store: opened.store,
      wrapStore: (store) =>
        observeStore(store, {
          before: (call) => {
            unfinished += 1;
            calls.push({ ...call, at: Date.now() });
          },
          after: () => {
            unfinished -= 1;
          },
        }),
    });
    const stop = async (): Promise<void> => {
      await server.stop();
      await opened.remove();
    };
    const parts = { client: new Client(server.url), calls, commands, stop };
    return new CountedServer(parts, () => unfinished);
  }

  /** Calls of the store that it has not answered. */
  get unfinished(): number {
    return this.#unfinished();
  }

  async during(something: () => Promise<unknown>): Promise<Counts> {
    const { calls, commands } = this;
    const [callsBefore, commandsBefore] = [calls.length, commands.length];
    await something();
    const seen = calls.slice(callsBefore).filter(({ name }) => !HOUSEKEEPING.has(name));
    const names = (wanted: string): string[] =>
      seen.filter((call) => call.kind === wanted).map(({ name }) => name);
    return {
      writes: names('write'),
      reads: names('read'),
      commands: commands.slice(commandsBefore),
    };
  }

  /**
   * The minimum of several attempts, or the first with no more than `most`: housekeeping also sends commands, which cannot be
   * distinguished by name.
   */
  async fewest(
    something: () => Promise<unknown>,
    wanted: ReadonlySet<string>,
    most = 0,
  ): Promise<readonly string[]> {
    const tries: string[][] = [];
    for (let n = 0; n < FEWEST_OF && (tries.at(-1)?.length ?? Infinity) > most; n += 1) {
      const seen = await this.during(something);
      tries.push(seen.commands.filter((name) => wanted.has(name)));
    }
    return tries.reduce((least, each) => (each.length < least.length ? each : least));
  }
}
