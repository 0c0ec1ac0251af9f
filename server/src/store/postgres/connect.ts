/**
 * The pool of connections to a database. Callers who wait for a connection alternate: a statement waits for one statement of
 * each other caller, not for all statements of a caller who has many.
 */
import { Pool, type PoolClient } from 'pg';
import { currentCaller } from '../../base/limits/current-caller.js';
import { createTurns, type Permit, type WeightedQueue } from '../../base/limits/weighted-queue.js';
import {
  ServerClient,
  type PostgresServers,
  type StatementLimits,
} from '../../postgres/servers.js';
import { withinTime } from '../remote-calls.js';
import { StoreUnavailableError } from '../store.js';
import { storeErrorOf } from './postgres-errors.js';

export interface ConnectOptions {
  readonly servers: PostgresServers;
  readonly poolMax: number;
}

const CLOSE_TIMEOUT_MS = 500;
const IDLE_TIMEOUT_MS = 60_000;
/** The caller of what the server does itself. */
const SERVER = 'server';

/** The database may well respond: it is this node that sends too much. */
export class ConnectionsBusyError extends StoreUnavailableError {}

export class Connections {
  readonly pool: Pool;
  readonly #servers: PostgresServers;
  readonly #permits: WeightedQueue;
  /** The permit of each connection in use. */
  readonly #inUse = new Map<PoolClient, Permit>();
  #isLost = false;
  #finding: Promise<void> | null = null;

  /** The servers must have been found before. */
  constructor({ poolMax, servers }: ConnectOptions) {
    this.#servers = servers;
    this.#permits = createTurns(poolMax);
    this.pool = new Pool({
      Client: servers.clientClass(),
      max: poolMax,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      connectionTimeoutMillis: servers.connectTimeoutMs,
      verify: refuseReadOnly,
    });
    // A connection was lost while it was idle: the pool has already removed it.
    this.pool.on('error', () => undefined);
    this.pool.on('release', (_error, client) => {
      this.#inUse.get(client)?.release();
      this.#inUse.delete(client);
    });
  }

  /** True after `lost`: another host may be the primary now, or the same host may have another server. */
  get isLost(): boolean {
    return this.#isLost;
  }

  lost(): void {
    this.#isLost = true;
  }

  /** The server of this connection can only be read. */
  lostToReadOnly(client: PoolClient): void {
    if (client instanceof ServerClient) this.#servers.abandon(client);
    this.lost();
  }

  /** To set in each transaction; null: the connections have limits, or there are none. */
  get transactionLimits(): StatementLimits | null {
    return this.#servers.transactionLimits;
  }

  /**
   * A connection from the pool to the server that was found last.
   * @throws Error of the driver; ConnectionsBusyError
   */
  async take(): Promise<PoolClient> {
    for (;;) {
      const caller = currentCaller()?.key ?? SERVER;
      const permit = this.#permits.tryEnter(caller, 1) ?? (await this.#permit(caller));
      const client = await this.pool.connect().catch((error: unknown) => {
        permit.release();
        throw error;
      });
      this.#inUse.set(client, permit);
      if (!(client instanceof ServerClient) || this.#servers.isCurrent(client)) return client;
      client.release(true);
    }
  }

  async #permit(caller: string): Promise<Permit> {
    const overdue = new AbortController();
    const timer = setTimeout(() => overdue.abort(), this.#servers.connectTimeoutMs);
    try {
      return await this.#permits.enter(caller, 1, overdue.signal);
    } catch {
      throw new ConnectionsBusyError('All connections to the database are in use');
    } finally {
      clearTimeout(timer);
    }
  }

  /** Looks for the writable host; concurrent callers share one search. @throws StoreUnavailableError */
  find(): Promise<void> {
    this.#finding ??= this.#servers
      .find()
      .then(
        () => {
          this.#isLost = false;
        },
        (error: unknown) => {
          throw storeErrorOf(error);
        },
      )
      .finally(() => {
        this.#finding = null;
      });
    return this.#finding;
  }

  /** Ends in bounded time, whatever the server does. */
  async close(): Promise<void> {
    // The driver first ends its sessions on the server, which may no longer respond.
    await withinTime(this.pool.end(), CLOSE_TIMEOUT_MS).catch(() => undefined);
    this.#servers.destroyConnections();
  }
}

/** After a failover, the address may still lead to the old primary, which serves outdated reads. */
function refuseReadOnly(client: PoolClient, done: (error?: Error) => void): void {
  if (!(client instanceof ServerClient)) {
    done();
    return;
  }
  client.checkWritable().then(
    () => done(),
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      done(new StoreUnavailableError(`The database cannot be used: ${reason}`, { cause: error }));
    },
  );
}
