/**
 * The store on MongoDB, or on a server that speaks its protocol.
 *
 * Owns: one database. Must not know: what the stored texts mean.
 *
 * Invariants besides the contract's S1 to S7, and SR1 to SR4 of side-records.ts:
 *  MO1 Only operations that are atomic on a single document decide anything: filtered updates, and inserts by `_id`. No
 *      transactions, change streams, TTL indexes, update pipelines, positional operators. Ids are created here, as strings.
 *  MO2 Writes are acknowledged by a majority. An operation that doesn't end in time fails as unavailable (rule S5) and may
 *      still take effect later. A claim that succeeds too late for its caller is released.
 */
import { MongoClient, type MongoClientOptions } from 'mongodb';
import { CountedInserts } from '../counted-inserts.js';
import { Outage } from '../outage.js';
import { KeyedMutex } from '../../base/limits/keyed-mutex.js';
import { remoteCall, type RemoteContexts, withinTime, searchTimeoutOf } from '../remote-calls.js';
import { storeMethods, type CallOperation } from '../store-operations.js';
import type { Store } from '../store.js';
import { encodeText } from '../text-codec.js';
import { addMissingFields } from './backfill.js';
import { CandidateFinder } from './candidate-finder.js';
import { collectionsOf, ensureIndexes } from './collections.js';
import { DisabledDefinitions } from './disabled-definitions.js';
import { groupedWritesOf } from './grouped-writes.js';
import { openDescendantsIn } from './instances.js';
import { LazyWrites } from './lazy-writes.js';
import type { MongoContext } from './mongo-context.js';
import { storeErrorOf } from './mongo-errors.js';
import { MONGO_OPERATIONS } from './operation-table.js';
import { timeLimited } from './time-limited.js';
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

export function createMongoStore(options: MongoStoreOptions): Store {
  const connection = new MongoConnection(options);
  return {
    kind: 'mongo',
    storesDeliveries: false,
    start: () => connection.open(),
    stop: () => connection.close(),
    ...storeMethods(connection.call),
  };
}

interface Opened extends RemoteContexts<MongoContext> {
  readonly client: MongoClient;
}

class MongoConnection {
  readonly #options: MongoStoreOptions;
  readonly call: CallOperation;
  readonly #operationTimeoutMs: number;
  #opened: Opened | null = null;

  constructor(options: MongoStoreOptions) {
    this.#options = options;
    this.#operationTimeoutMs = options.operationTimeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.call = remoteCall<MongoContext>({
      operations: MONGO_OPERATIONS,
      opened: () => this.#opened,
      timeoutMs: this.#operationTimeoutMs,
      errorOf: storeErrorOf,
      release: async ({ lazyWrites }, { createdAt, id, tokenHash }) => {
        lazyWrites.releaseLostClaim({
          activityId: encodeText(id),
          tokenHash: encodeText(tokenHash),
          createdAt,
        });
      },
    });
  }

  async open(): Promise<void> {
    if (this.#opened !== null) return;
    const { url, databaseName = databaseNameIn(url) ?? DEFAULT_DATABASE } = this.#options;
    const client = new MongoClient(url, this.#clientOptions());
    const outage = outageOf(client, this.#operationTimeoutMs);
    const context = this.#contextOf(client, databaseName);
    try {
      await prepareCollectionsOf(url, databaseName, this.#clientOptions());
      await client.connect();
      // The quickest response is the most accurate; the first one had to wait for its connection.
      for (let reading = 0; reading < FIRST_TIME_READINGS; reading += 1) {
        await context.readServerTime();
      }
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
    const searchTimeoutMs = searchTimeoutOf(this.#operationTimeoutMs);
    const limited = timeLimited(collectionsOf(client.db(databaseName)), searchTimeoutMs);
    const searchContext = { ...context, ...limited };
    this.#opened = { client, outage, context, searchContext, longContext: context };
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    if (opened === null) return;
    const { client, context } = opened;
    // Nothing depends on the lazy writes, so a database that hangs must not delay the end of the process.
    const sent = withinTime(context.lazyWrites.stop(), this.#operationTimeoutMs);
    await sent.catch(() => undefined);
    // The driver first ends its sessions on the server; if the server doesn't respond, closing ends on its own after a
    // while.
    await withinTime(client.close(), CLOSE_TIMEOUT_MS).catch(() => undefined);
  }

  #contextOf(client: MongoClient, databaseName: string): MongoContext {
    const collections = collectionsOf(client.db(databaseName));
    return {
      ...collections,
      candidates: new CandidateFinder(collections),
      lazyWrites: new LazyWrites(collections),
      countedInserts: new CountedInserts(openDescendantsIn(collections)),
      references: new KeyedMutex(),
      disabledDefinitions: new DisabledDefinitions(collections.disabled),
      groupedWrites: groupedWritesOf(collections),
      inputSweep: { after: null },
      claimSweep: { after: null },
      limitKeySweep: { after: null },
      slotWaitSweep: { after: null },
      readServerTime: () => this.#readServerTime(client),
    };
  }

  async #readServerTime(client: MongoClient): Promise<void> {
    const { onServerTime } = this.#options;
    if (onServerTime === undefined) return;
    const askedAt = performance.now();
    // If the server doesn't report its time, every node uses its own clock.
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

/** The database name in a connection string; without one, the driver itself would use `test`. */
function databaseNameIn(url: string): string | null {
  const name = /^mongodb(?:\+srv)?:\/\/[^/]+\/([^?]+)/.exec(url)?.[1];
  return name === undefined ? null : decodeURIComponent(name);
}
