/**
 * Statements on a pool of connections.
 *
 * Invariants:
 *  PG1 No statement depends on the state of a session: a pooler in transaction mode (PgBouncer) may give each statement, or
 *      each transaction, another session. So there are no SET statements, temporary tables or session locks, and tables
 *      are named with their schema: `@instances` in a statement stands for `"schema".instances`.
 *  PG2 A connection that failed, timed out or reached a read-only server is closed, never used again.
 *  PG3 A statement that was rolled back because of concurrent ones is repeated. This includes one that waited for a lock
 *      until its time limit, because the lock timeout is shorter than the server's `deadlock_timeout`: it is repeated once,
 *      if that can end in time. A group is repeated by its GroupCommit instead (GC2).
 *  PG4 A statement that is used often is prepared by name, which saves most of its planning. If a pooler loses the name, it
 *      wasn't executed: it is repeated without one, and no statement is prepared any more.
 *  PG8 No statement waits for a lock longer than its caller waits for the statement, with and without a pooler.
 *  PG9 A statement that changes the rows which a subquery with a LIMIT finds names them by `= ANY (ARRAY(...))`. This
 *      executes the subquery once. With `IN`, a server with old statistics executes it again for each row.
 */
import type { PoolClient } from 'pg';
import type { Outage } from '../outage.js';
import { GroupRolledBackError, type RepeatLimits } from '../group-commit.js';
import { StoreUnavailableError } from '../store.js';
import { ConnectionsBusyError, type Connections } from './connect.js';
import {
  isConflict,
  isInterruption,
  isLockTimeout,
  isLostPreparation,
  isReadOnlyServer,
  storeErrorOf,
} from './postgres-errors.js';
import { PreparedTexts } from './prepared-texts.js';
import { Row } from './row.js';

export type Value = string | number | boolean | null | Column;
/** An array parameter: one column of `unnest`. */
export type Column = readonly (string | number | boolean | null)[];

export interface DatabaseOptions {
  readonly connections: Connections;
  readonly schema: string;
  readonly outage: Outage;
  /** How long the callers wait for a statement; 0: any time. */
  readonly timeoutMs: number;
  /** How long a statement waits for each of its locks. @default any time */
  readonly lockTimeoutMs?: number;
  /** Told the text of every statement that is sent, for counting. */
  readonly onStatement?: ((text: string, values: readonly Value[]) => void) | undefined;
}

/** Runs statements: on any connection, or all of them in one transaction. */
export interface Statements {
  /** The rows of the result. @throws StoreUnavailableError */
  query(text: string, values?: readonly Value[]): Promise<readonly Row[]>;
  /** How many rows were changed. @throws StoreUnavailableError */
  execute(text: string, values?: readonly Value[]): Promise<number>;
  /** Only in a transaction: sends the statement without waiting for it. If it fails, so does the transaction. */
  send?(text: string, values?: readonly Value[]): void;
}

interface StatementResult {
  readonly rows: readonly Row[];
  readonly count: number;
}

/** After it has waited for a lock, a statement sees the others' commits. */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

const ATTEMPTS_MAX = 5;
const RETRY_MS_MAX = 20;
/** Behind other waiters, a row takes two locks. */
const LOCKS_PER_ROW = 2;

export class Database implements Statements {
  readonly #options: DatabaseOptions;
  readonly #texts: PreparedTexts;

  constructor(options: DatabaseOptions, texts = new PreparedTexts(options.schema)) {
    this.#options = options;
    this.#texts = texts;
  }

  /** The same database, with more time for each statement. */
  withTimeout(timeoutMs: number): Database {
    return new Database({ ...this.#options, timeoutMs }, this.#texts);
  }

  get repeatLimits(): RepeatLimits {
    const { lockTimeoutMs = 0, timeoutMs } = this.#options;
    return { aloneMs: timeoutMs - LOCKS_PER_ROW * lockTimeoutMs, memberMs: timeoutMs };
  }

  async query(text: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    return (await this.#repeatOnConflict(() => this.#runAnywhere(text, values))).rows;
  }

  /** Like `query`, but never prepared: for a statement whose best plan depends on the values. */
  async queryByValues(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    const run = (): Promise<StatementResult> => this.#runAnywhere(text, values, false);
    return (await this.#repeatOnConflict(run)).rows;
  }

  /**
   * Like `query`, for the statement of a GroupCommit, which repeats its operations itself if the statement waited too long
   * for a lock. Nothing of the group may have happened before. @throws GroupRolledBackError
   */
  async queryGroup(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    return (await this.#asGroup(() => this.#runAnywhere(text, values))).rows;
  }

  async execute(text: string, values: readonly Value[] = []): Promise<number> {
    return (await this.#repeatOnConflict(() => this.#runAnywhere(text, values))).count;
  }

  /** Several statements that happen together or not at all. Keep it short: its locks last until it ends. */
  transaction<Result>(run: (statements: Statements) => Promise<Result>): Promise<Result> {
    return this.#repeatOnConflict(() => this.#runTransaction(run));
  }

  /** The same for a GroupCommit: see `queryGroup`. @throws GroupRolledBackError */
  async groupTransaction<Result>(
    run: (statements: Statements) => Promise<Result>,
  ): Promise<Result> {
    return this.#asGroup(() => this.#runTransaction(run));
  }

  async #asGroup<Result>(run: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#repeatOnConflict(run, false);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const { message } = storeErrorOf(error);
      throw new GroupRolledBackError(message, { cause: error });
    }
  }

  async #runTransaction<Result>(run: (statements: Statements) => Promise<Result>): Promise<Result> {
    const client = await this.#connect();
    const sent: Promise<unknown>[] = [];
    const send = (answer: Promise<unknown>): void => {
      // Whoever ends the transaction looks at it.
      answer.catch(() => undefined);
      sent.push(answer);
    };
    try {
      send(this.#control(client, this.#begin() ?? BEGIN));
      const result = await run({
        query: async (text, values = []) => (await this.#run(client, text, values)).rows,
        execute: async (text, values = []) => (await this.#run(client, text, values)).count,
        send: (text, values = []) => send(this.#run(client, text, values)),
      });
      // After a statement that failed, COMMIT rolls back.
      send(this.#control(client, 'COMMIT'));
      await Promise.all(sent);
      client.release();
      return result;
    } catch (error) {
      // What follows a statement that failed only says that the transaction has ended.
      const first = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected');
      const reason: unknown = first?.status === 'rejected' ? first.reason : error;
      await this.#rollBack(client, reason);
      throw reason;
    }
  }

  async #runAnywhere(
    text: string,
    values: readonly Value[],
    mayPrepare = true,
  ): Promise<StatementResult> {
    const client = await this.#connect();
    try {
      const begin = this.#begin();
      const run = (): Promise<StatementResult> => this.#run(client, text, values, mayPrepare);
      const result = await (begin === null ? run() : this.#runWithLimits(client, begin, run));
      client.release();
      return result;
    } catch (error) {
      client.release(!isUsableAfter(error));
      throw error;
    }
  }

  /** Begins a transaction with the limits that a pooler has kept from its connection; null: not needed. */
  #begin(): string | null {
    const limits = this.#options.connections.transactionLimits;
    // What may take any time has no limits.
    if (limits === null || this.#options.timeoutMs === 0) return null;
    const { lockTimeoutMs, statementTimeoutMs } = limits;
    return `${BEGIN}; SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL statement_timeout = ${statementTimeoutMs}`;
  }

  /** All in one round trip; after a statement that failed, COMMIT rolls back. */
  async #runWithLimits(
    client: PoolClient,
    begin: string,
    run: () => Promise<StatementResult>,
  ): Promise<StatementResult> {
    const begun = this.#control(client, begin);
    const result = run();
    const ended = this.#control(client, 'COMMIT');
    await Promise.allSettled([begun, result, ended]);
    const answer = await result;
    await ended;
    return answer;
  }

  async #rollBack(client: PoolClient, error: unknown): Promise<void> {
    if (!isUsableAfter(error)) {
      client.release(true);
      return;
    }
    await this.#control(client, 'ROLLBACK').then(
      () => client.release(),
      () => client.release(true),
    );
  }

  async #connect(): Promise<PoolClient> {
    const { connections } = this.#options;
    try {
      if (connections.isLost) await connections.find();
      return await connections.take();
    } catch (error) {
      throw error instanceof ConnectionsBusyError ? error : this.#noted(error, null);
    }
  }

  async #run(
    client: PoolClient,
    text: string,
    values: readonly Value[],
    mayPrepare = true,
  ): Promise<StatementResult> {
    const { onStatement, outage, timeoutMs } = this.#options;
    onStatement?.(text, values);
    try {
      // The driver reads query_timeout, although its types don't contain it.
      const sent = this.#texts.use(text, mayPrepare);
      const query = { ...sent, values: [...values], query_timeout: timeoutMs };
      const result = await client.query<Readonly<Record<string, unknown>>>(query);
      outage.end();
      return { rows: result.rows.map((row) => new Row(row)), count: result.rowCount ?? 0 };
    } catch (error) {
      throw this.#noted(error, client);
    }
  }

  /** Begins or ends a transaction. */
  async #control(client: PoolClient, text: string): Promise<void> {
    const { onStatement, timeoutMs } = this.#options;
    onStatement?.(text, []);
    try {
      const query = { text, query_timeout: timeoutMs };
      await client.query(query);
    } catch (error) {
      throw this.#noted(error, client);
    }
  }

  /** Notes that the server can't be reached, if the error says so. */
  #noted(error: unknown, client: PoolClient | null): Error {
    // Both functions have looked whether it is an error.
    if (isConflict(error)) return error as Error;
    if (isLostPreparation(error)) {
      this.#texts.stopPreparing();
      return error as Error;
    }
    const storeError = storeErrorOf(error);
    // A server that gave up waiting for a lock is there.
    if (storeError instanceof StoreUnavailableError && !isInterruption(error)) {
      const { connections, outage } = this.#options;
      outage.begin();
      if (client !== null && isReadOnlyServer(error)) connections.lostToReadOnly(client);
      else connections.lost();
    }
    return storeError;
  }

  async #repeatOnConflict<Result>(
    run: () => Promise<Result>,
    repeatsLockTimeout = true,
  ): Promise<Result> {
    const startedAt = performance.now();
    let mayWaitAgain = repeatsLockTimeout;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await run();
      } catch (error) {
        const passedMs = performance.now() - startedAt;
        if (mayWaitAgain && isLockTimeout(error) && passedMs < this.repeatLimits.aloneMs) {
          mayWaitAgain = false;
        } else if (!isConflict(error) && !isLostPreparation(error)) {
          throw error;
        }
        if (attempt === ATTEMPTS_MAX) throw storeErrorOf(error);
      }
      // Two that met once don't meet again at the same moment.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * RETRY_MS_MAX * attempt));
    }
  }
}

/** Whether the connection is as good as before. */
function isUsableAfter(error: unknown): boolean {
  if (isLostPreparation(error)) return false;
  return !(error instanceof StoreUnavailableError) || isInterruption(error.cause);
}
