/**
 * The store on MongoDB, or on a server that speaks its protocol.
 *
 * Owns: one database. Must not know: what the stored texts mean.
 *
 * Invariants besides the contract's S1 to S7, and SR1 to SR4 of side-records.ts:
 *  MO1 Only operations that are atomic on a single document decide anything: filtered updates, and inserts by `_id`. No
 *      transactions, change streams, TTL indexes, update pipelines, positional operators. Ids are created here, as strings.
 *  MO2 Writes are acknowledged by a majority. An operation that does not end in time fails as unavailable (rule S5) and may
 *      still take effect later. A claim that succeeds too late for its caller is released.
 */
import { MongoClient, type MongoClientOptions } from 'mongodb';
import {
  storeMethods,
  type CallOperation,
  type OperationResult,
  type StoreOperation,
} from '../operations.js';
import { CountedInserts } from '../counted-inserts.js';
import { Outage } from '../outage.js';
import { StoreUnavailableError, type Store } from '../store.js';
import { withinTime } from '../within-time.js';
import type { ActivityRecord } from '../records/activities.js';
import { encodeText } from '../text-codec.js';
import { CandidateFinder } from './candidate-finder.js';
import { addMissingFields } from './backfill.js';
import { collectionsOf, ensureIndexes } from './collections.js';
import { groupedWritesOf } from './grouped-writes.js';
import { LazyWrites } from './lazy-writes.js';
import { openDescendantsIn } from './instances.js';
import type { MongoContext } from './mongo-context.js';
import { storeErrorOf } from './mongo-errors.js';
import { MONGO_OPERATIONS } from './operation-table.js';
import { refuseUnfinishedImport } from './unfinished-import.js';

export interface MongoStoreOptions {
  /** `mongodb://…`; its query may contain other settings of the driver. */
  readonly url: string;
  /** @default the name in the URL, or `stepwright` */
  readonly databaseName?: string;
  /** How long to look for a writable server. @default 2000 */
  readonly serverSelectionTimeoutMs?: number;
  /** Time limit of one operation. @default 2000 */
  readonly operationTimeoutMs?: number;
  /** Called with the name of every command that is sent, for counting. */
  readonly onCommand?: (name: string) => void;
  /**
   * Called with the server's time (milliseconds since 1970) and the round-trip time: at the start and with each
   * heartbeat.
   */
  readonly onServerTime?: (time: number, roundTripMs: number) => void;
}

const DEFAULT_DATABASE = 'stepwright';
const DEFAULT_TIMEOUT_MS = 2000;
/** A connection that has received nothing for this long is given up. */
const SOCKET_TIMEOUT_MS = 30_000;
const CLOSE_TIMEOUT_MS = 500;
const FIRST_TIME_READINGS = 5;
/** Operations that do a lot at once, or several things in sequence. */
const LONG_OPERATIONS: ReadonlySet<StoreOperation> = new Set([
  'purge',
  'statistics',
  'listActivityQueues',
  'probeAtomicity',
]);
const LONG_OPERATION_TIMEOUT_MS = 30_000;

export function createMongoStore(options: MongoStoreOptions): Store {
  const connection = new MongoConnection(options);
  return {
    kind: 'mongo',
    start: () => connection.open(),
    stop: () => connection.close(),
    ...storeMethods(connection.call),
  };
}

class MongoConnection {
  readonly #options: MongoStoreOptions;
  readonly #operationTimeoutMs: number;
  #client: MongoClient | null = null;
  #context: MongoContext | null = null;
  #outage: Outage | null = null;

  constructor(options: MongoStoreOptions) {
    this.#options = options;
    this.#operationTimeoutMs = options.operationTimeoutMs ?? DEFAULT_TIMEOUT_MS;
  }

  async open(): Promise<void> {
    if (this.#client !== null) return;
    const { url, databaseName = databaseNameIn(url) ?? DEFAULT_DATABASE } = this.#options;
    const client = new MongoClient(url, this.#clientOptions());
    this.#outage = outageOf(client, this.#operationTimeoutMs);
    try {
      await prepareCollectionsOf(url, databaseName, this.#clientOptions());
      await client.connect();
    } catch (error) {
      await client.close();
      throw storeErrorOf(error);
    }
    const { onCommand } = this.#options;
    if (onCommand !== undefined) {
      client.on('commandStarted', ({ commandName }) => {
        onCommand(commandName);
      });
    }
    const collections = collectionsOf(client.db(databaseName));
    this.#client = client;
    this.#context = {
      ...collections,
      candidates: new CandidateFinder(collections.activities),
      lazyWrites: new LazyWrites(collections),
      countedInserts: new CountedInserts(openDescendantsIn(collections)),
      groupedWrites: groupedWritesOf(collections),
      readServerTime: () => this.#readServerTime(client),
    };
    // The quickest response is the most accurate; the first one had to wait for its connection.
    for (let reading = 0; reading < FIRST_TIME_READINGS; reading += 1) {
      await this.#readServerTime(client);
    }
  }

  async close(): Promise<void> {
    const [client, context] = [this.#client, this.#context];
    this.#client = null;
    this.#context = null;
    if (context !== null) {
      // Nothing depends on the lazy writes, so a database that hangs must not delay the end of the process.
      const sent = withinTime(context.lazyWrites.stop(), this.#operationTimeoutMs);
      await sent.catch(() => undefined);
    }
    // The driver first ends its sessions on the server; if the server does not respond, closing ends on its own after a
    // while.
    if (client !== null) await withinTime(client.close(), CLOSE_TIMEOUT_MS).catch(() => undefined);
  }

  readonly call: CallOperation = async (name, args) => {
    const [context, outage] = [this.#context, this.#outage];
    if (context === null || outage === null) {
      throw new StoreUnavailableError('The store has not been started, or has been stopped');
    }
    const operation: Promise<OperationResult<typeof name>> = outage.guard(() =>
      MONGO_OPERATIONS[name](context, args),
    );
    const isLong = LONG_OPERATIONS.has(name);
    const timeoutMs = isLong ? LONG_OPERATION_TIMEOUT_MS : this.#operationTimeoutMs;
    try {
      return await withinTime(operation, timeoutMs);
    } catch (error) {
      if (name === 'claimActivity') {
        // The name determines the type of the result.
        giveBackWhenItComes(context, operation as Promise<ActivityRecord | null>);
      }
      throw storeErrorOf(error);
    }
  };

  async #readServerTime(client: MongoClient): Promise<void> {
    const { onServerTime } = this.#options;
    if (onServerTime === undefined) return;
    const askedAt = performance.now();
    // If the server does not report its time, every node uses its own clock.
    const answer = await client
      .db('admin')
      .command({ hello: 1 })
      .catch(() => null);
    const time: unknown = answer?.['localTime'];
    if (time instanceof Date) onServerTime(time.getTime(), performance.now() - askedAt);
  }

  #clientOptions(): MongoClientOptions {
    const { serverSelectionTimeoutMs = DEFAULT_TIMEOUT_MS, onCommand } = this.#options;
    return {
      appName: 'stepwright',
      writeConcern: { w: 'majority' },
      serverSelectionTimeoutMS: serverSelectionTimeoutMs,
      connectTimeoutMS: serverSelectionTimeoutMs,
      waitQueueTimeoutMS: this.#operationTimeoutMs,
      socketTimeoutMS: SOCKET_TIMEOUT_MS,
      monitorCommands: onCommand !== undefined,
    };
  }
}

function outageOf(client: MongoClient, patienceMs: number): Outage {
  const outage = new Outage(patienceMs);
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    if (newDescription.hasKnownServers) outage.end();
    else outage.begin();
  });
  return outage;
}

/** Uses a separate client without a socket timeout, because building an index on a large collection can take long. */
async function prepareCollectionsOf(
  url: string,
  databaseName: string,
  options: MongoClientOptions,
): Promise<void> {
  const client = new MongoClient(url, { ...options, socketTimeoutMS: 0, monitorCommands: false });
  try {
    const collections = collectionsOf(client.db(databaseName));
    await refuseUnfinishedImport(collections);
    await ensureIndexes(collections);
    await addMissingFields(collections);
  } finally {
    await client.close();
  }
}

/**
 * The worker for which the item was claimed has already been told that there is no work; without this, nobody would get
 * the item.
 */
function giveBackWhenItComes(
  { lazyWrites }: MongoContext,
  claim: Promise<ActivityRecord | null>,
): void {
  claim.then(
    (item) => {
      if (item?.tokenHash == null) return;
      lazyWrites.releaseLostClaim({
        activityId: encodeText(item.id),
        tokenHash: encodeText(item.tokenHash),
        createdAt: item.createdAt,
      });
    },
    // A claim that fails in the end has released the item itself.
    () => undefined,
  );
}

/** The database name in a connection string; without one, the driver itself would use `test`. */
function databaseNameIn(url: string): string | null {
  const name = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
  return name === undefined ? null : decodeURIComponent(name);
}
