/**
 * The store on PostgreSQL 14 or later.
 *
 * Owns: one schema of a database. Must not know: what the stored texts mean.
 *
 * Invariants besides the contract's S1 to S7, PG1 to PG4, PG8 and PG9 of database.ts and GC1 to GC4 of ../group-commit.ts:
 *  PG5 Every operation is one statement, or a short transaction where that isn't possible: side records appear together
 *      with their instance.
 *  PG6 Whoever changes an instance and what belongs to it changes the instance first, and gives several to the database in
 *      the order of their ids. The plan may still lock them in another order. Where two nodes wait for each other, the
 *      statement that began to wait first ends after the lock timeout, and is repeated (PG3).
 *  PG10 Searches have connections of their own, a part of the pool: no write or point read waits for one. The server ends a
 *      search that takes longer than its caller waits.
 *  PG7 An operation that didn't end in time fails as unavailable (rule S5) and may still happen later. A claim that comes
 *      too late for its caller is released.
 */
import { readPostgresAddress, type PostgresAddress } from '../../postgres/address.js';
import { NOTIFY_STATEMENT } from '../../postgres/notify.js';
import { PostgresServers } from '../../postgres/servers.js';
import { CountedInserts } from '../counted-inserts.js';
import { Outage } from '../outage.js';
import { KeyedMutex } from '../../base/limits/keyed-mutex.js';
import {
  LONG_OPERATION_TIMEOUT_MS,
  remoteCall,
  type RemoteContexts,
  searchConnectionsOf,
  searchTimeoutOf,
} from '../remote-calls.js';
import { storeMethods, type CallOperation } from '../store-operations.js';
import { StoreUnavailableError, type Store } from '../store.js';
import { createCompletionGroup } from './activities.js';
import { createActivityClaimGroup } from './activity-queue.js';
import { Connections } from './connect.js';
import { Database, type Value } from './database.js';
import { createEventGroup } from './events.js';
import { countOpenDescendants, createInsertGroup } from './inserts.js';
import { createClaimGroup, createCommitGroup, createReadGroup } from './instances.js';
import { createMessageGroup } from './messages.js';
import { migrate } from './migrate.js';
import { POSTGRES_OPERATIONS } from './operation-table.js';
import type { PostgresContext, Groups } from './postgres-context.js';
import { storeErrorOf } from './postgres-errors.js';
import { createSlotCommitGroup, createSlotInsertGroup } from './slot-commits.js';

export interface PostgresStoreOptions {
  /** `postgres://…` or `postgresql://…`; see ../../postgres/address.ts. */
  readonly url: string;
  /** If the address names none. @default stepwright */
  readonly databaseName?: string;
  /** Connections of this node; searches have a part of them for themselves. @default 10 */
  readonly poolMax?: number;
  /** File with the password, if the address contains none. */
  readonly passwordFile?: string | null;
  /** The server ends statements that run longer. @default 30,000 */
  readonly statementTimeoutMs?: number;
  /** How long to wait for a connection. @default 2000 */
  readonly connectTimeoutMs?: number;
  /** How long one operation may take. @default 2000 */
  readonly operationTimeoutMs?: number;
  /** Told the text of every statement that is sent, for counting. */
  readonly onStatement?: (text: string, values: readonly Value[]) => void;
  /** Told the server's time (milliseconds since 1970) and how long asking took: at the start and with each heartbeat. */
  readonly onServerTime?: (time: number, roundTripMs: number) => void;
}

const DEFAULT_DATABASE = 'stepwright';
const DEFAULT_POOL_MAX = 10;
const DEFAULT_TIMEOUT_MS = 2000;
const FIRST_TIME_READINGS = 5;
/**
 * The share of an operation's time that it may wait for a lock. A statement that waited for one lock can be repeated, and
 * then wait for two: behind other waiters, a row takes two locks.
 */
const LOCK_SHARE = 0.3;
/** A migration takes as long as it takes. */
const NO_TIMEOUT = 0;

export function createPostgresStore(options: PostgresStoreOptions): Store {
  const store = new PostgresStore(options);
  return {
    kind: 'postgres',
    storesDeliveries: true,
    start: () => store.open(),
    stop: () => store.close(),
    notify: (channel, payloads) => store.notify(channel, payloads),
    ...storeMethods(store.call),
  };
}

interface Opened extends RemoteContexts<PostgresContext> {
  /** That of the searches is the last one, unless the pool is too small to be divided. */
  readonly pools: readonly Connections[];
}

class PostgresStore {
  readonly #options: PostgresStoreOptions;
  readonly call: CallOperation;
  readonly #operationTimeoutMs: number;
  #opened: Opened | null = null;

  constructor(options: PostgresStoreOptions) {
    this.#options = options;
    this.#operationTimeoutMs = options.operationTimeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.call = remoteCall<PostgresContext>({
      operations: POSTGRES_OPERATIONS,
      opened: () => this.#opened,
      timeoutMs: this.#operationTimeoutMs,
      errorOf: storeErrorOf,
      release: async (context, { id, tokenHash }) => {
        await POSTGRES_OPERATIONS.releaseActivity(context, [id, tokenHash]);
      },
    });
  }

  async open(): Promise<void> {
    if (this.#opened !== null) return;
    const address = readPostgresAddress(this.#options.url);
    const { poolMax = DEFAULT_POOL_MAX } = this.#options;
    const searchMax = searchConnectionsOf(poolMax);
    const connections = await this.#connect(address, poolMax - searchMax);
    const searching =
      searchMax === 0
        ? connections
        : await this.#connect(address, searchMax, searchTimeoutOf(this.#operationTimeoutMs));
    const pools = searchMax === 0 ? [connections] : [connections, searching];
    const outage = new Outage(this.#operationTimeoutMs);
    const database = this.#databaseOn(connections, address.schema, outage);
    const context = this.#contextOf(database);
    const searchContext = {
      ...context,
      database: this.#databaseOn(searching, address.schema, outage),
    };
    const longContext = { ...context, database: database.withTimeout(LONG_OPERATION_TIMEOUT_MS) };
    try {
      await migrate(database.withTimeout(NO_TIMEOUT), address.schema);
      // The quickest response is the most accurate; the first one had to wait for its connection.
      for (let reading = 0; reading < FIRST_TIME_READINGS; reading += 1) {
        await context.readServerTime();
      }
    } catch (error) {
      await closeAll(pools);
      throw storeErrorOf(error);
    }
    this.#opened = { pools, outage, context, searchContext, longContext };
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    await closeAll(opened?.pools ?? []);
  }

  async notify(channel: string, payloads: readonly string[]): Promise<void> {
    const opened = this.#opened;
    if (opened === null) throw new StoreUnavailableError('The store has been stopped');
    const { context, outage } = opened;
    await outage.guard(() => context.database.query(NOTIFY_STATEMENT, [channel, payloads]));
  }

  get #lockTimeoutMs(): number {
    return Math.ceil(this.#operationTimeoutMs * LOCK_SHARE);
  }

  /** A pool; its servers are found first, and its connections are opened when they are needed. */
  async #connect(
    address: PostgresAddress,
    poolMax: number,
    statementTimeoutMs = this.#options.statementTimeoutMs ?? LONG_OPERATION_TIMEOUT_MS,
  ): Promise<Connections> {
    const servers = this.#serversOf(address, statementTimeoutMs);
    try {
      await servers.find();
    } catch (error) {
      throw storeErrorOf(error);
    }
    return new Connections({ servers, poolMax });
  }

  #databaseOn(connections: Connections, schema: string, outage: Outage): Database {
    return new Database({
      connections,
      schema,
      outage,
      timeoutMs: this.#operationTimeoutMs,
      lockTimeoutMs: this.#lockTimeoutMs,
      onStatement: this.#options.onStatement,
    });
  }

  #serversOf(address: PostgresAddress, statementTimeoutMs: number): PostgresServers {
    const { connectTimeoutMs, databaseName, passwordFile } = this.#options;
    return new PostgresServers({
      address,
      databaseName: databaseName ?? DEFAULT_DATABASE,
      passwordFile: passwordFile ?? null,
      connectTimeoutMs: connectTimeoutMs ?? DEFAULT_TIMEOUT_MS,
      limits: {
        statementTimeoutMs,
        // The answer arrives before the caller gives up, so the connection can be used again.
        lockTimeoutMs: this.#lockTimeoutMs,
      },
    });
  }

  #contextOf(database: Database): PostgresContext {
    return {
      database,
      groups: createGroups(database),
      countedInserts: new CountedInserts(countOpenDescendants(database)),
      references: new KeyedMutex(),
      readServerTime: () => this.#readServerTime(database),
    };
  }

  async #readServerTime(database: Database): Promise<void> {
    const { onServerTime } = this.#options;
    if (onServerTime === undefined) return;
    const askedAt = performance.now();
    const [row] = await database.query(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS time',
    );
    if (row !== undefined) onServerTime(row.number('time'), performance.now() - askedAt);
  }
}

async function closeAll(pools: readonly Connections[]): Promise<void> {
  await Promise.all(pools.map((pool) => pool.close()));
}

/** A group commit for each frequent operation. */
function createGroups(database: Database): Groups {
  return {
    inserts: createInsertGroup(database),
    commits: createCommitGroup(database),
    slotInserts: createSlotInsertGroup(database),
    slotCommits: createSlotCommitGroup(database),
    messages: createMessageGroup(database),
    reads: createReadGroup(database),
    claims: createClaimGroup(database),
    activityClaims: createActivityClaimGroup(database),
    completions: createCompletionGroup(database),
    events: createEventGroup(database),
  };
}
