/**
 * The embedded store: one SQLite file, in worker threads.
 *
 * Owns: the file. Several processes may share it (a fleet on one machine).
 * Must not know: what the stored texts mean.
 *
 * Invariants besides the contract's S1 to S7:
 *  SQ1 The main thread never waits for the disk: it posts operations to the thread and receives replies.
 *  SQ2 The reply to a write is posted after its commit was synced (WAL, `synchronous = FULL`).
 *  SQ3 A write transaction begins with the write lock (`BEGIN IMMEDIATE`), so what it has read still holds when it commits.
 *  SQ4 Operations that arrive while a commit is being synced share the next one; see batch.ts.
 *  SQ5 Searches run on a thread and a connection of their own, which only reads: no write or point read waits for one. Each
 *      sees one state of the file, with every commit before it (WAL).
 */
import {
  STORE_OPERATION_KINDS,
  storeMethods,
  type CallOperation,
  type OperationResult,
} from '../store-operations.js';
import type { Store } from '../store.js';
import { DatabaseThread, type ThreadLogger } from './database-thread.js';

const BUSY_TIMEOUT_MS = 5000;
/** A server without searches saves the 12 MB of the thread. Starting it takes some 50 ms. */
const SEARCH_IDLE_MS = 60_000;

export interface SqliteStoreOptions {
  /** Path of the file. A missing file or directory is created. */
  readonly path: string;
  /** How long an operation waits for other processes that are writing to the file. @default 5000 */
  readonly busyTimeoutMs?: number;
  /** How long the thread of searches stays without any. @default a minute */
  readonly searchIdleMs?: number;
  readonly logger?: ThreadLogger;
}

export function createSqliteStore(options: SqliteStoreOptions): Store {
  const { path, busyTimeoutMs = BUSY_TIMEOUT_MS, logger = null } = options;
  const { searchIdleMs = SEARCH_IDLE_MS } = options;
  const main = new DatabaseThread({ path, busyTimeoutMs }, logger);
  const searching = new DatabaseThread({ path, busyTimeoutMs, isReadOnly: true }, logger);
  const call: CallOperation = async (name, args) => {
    const thread = STORE_OPERATION_KINDS[name] === 'search' ? searching : main;
    // The thread replies with the result of the operation of this name.
    return (await thread.request(name, args)) as OperationResult<typeof name>;
  };
  return {
    kind: 'sqlite',
    storesDeliveries: true,
    async start() {
      await main.open();
      searching.openWhenNeeded(searchIdleMs);
    },
    async stop() {
      // The last connection tidies the file up, which only the one that writes can do.
      await searching.close();
      await main.close();
    },
    ...storeMethods(call),
  };
}
