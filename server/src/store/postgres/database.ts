/**
 * Statements on a pool of connections.
 *
 * Invariants:
 *  PG1 No statement depends on the state of a session: a pooler in transaction mode (PgBouncer) may give each statement, or
 *      each transaction, another session. So there are no SET statements, temporary tables or session locks, and tables
 *      are named with their schema: `@instances` in a statement stands for `"schema".instances`.
 *  PG2 A connection that failed, timed out or reached a read-only server is closed, never used again.
 *  PG3 A statement that was rolled back because of concurrent ones is repeated.
 *  PG4 A statement that is used often is prepared by name, which saves most of its planning. If a pooler loses the name, it
 *      was not executed: it is repeated without one, and no statement is prepared any more.
 */
import type { PoolClient } from 'pg';
import type { Outage } from '../outage.js';
import { StoreUnavailableError } from '../store.js';
import type { Connections } from './connect.js';
import { isConflict, isLostPreparation, storeErrorOf } from './postgres-errors.js';
import { PreparedTexts } from './prepared-texts.js';
import { Row } from './row.js';

export type Value = string | number | boolean | null | Column;
/** An array parameter: one column of `unnest`. */
export type Column = readonly (string | number | boolean | null)[];

export interface DatabaseOptions {
  readonly connections: Connections;
  readonly schema: string;
  readonly outage: Outage;
  readonly timeoutMs: number;
  /** Told the text of every statement that is sent, for counting. */
  readonly onStatement?: ((text: string, values: readonly Value[]) => void) | undefined;
}

/** Runs statements: on any connection, or all of them in one transaction. */
export interface Statements {
  /** The rows of the result. @throws StoreUnavailableError */
  query(text: string, values?: readonly Value[]): Promise<readonly Row[]>;
  /** How many rows were changed. @throws StoreUnavailableError */
  execute(text: string, values?: readonly Value[]): Promise<number>;
}

interface StatementResult {
  readonly rows: readonly Row[];
  readonly count: number;
}

const ATTEMPTS_MAX = 5;
const RETRY_MS_MAX = 20;

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

  async query(text: string, values: readonly Value[] = []): Promise<readonly Row[]> {
    return (await this.#repeatOnConflict(() => this.#runAnywhere(text, values))).rows;
  }

  /** Like `query`, but never prepared: for a statement whose best plan depends on the values. */
  async queryByValues(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    const run = (): Promise<StatementResult> => this.#runAnywhere(text, values, false);
    return (await this.#repeatOnConflict(run)).rows;
  }

  async execute(text: string, values: readonly Value[] = []): Promise<number> {
    return (await this.#repeatOnConflict(() => this.#runAnywhere(text, values))).count;
  }

  /** Several statements that happen together or not at all. Keep it short: its locks last until it ends. */
  transaction<Result>(run: (statements: Statements) => Promise<Result>): Promise<Result> {
    return this.#repeatOnConflict(async () => {
      const client = await this.#connect();
      try {
        await this.#run(client, 'BEGIN', []);
        const result = await run({
          query: async (text, values = []) => (await this.#run(client, text, values)).rows,
          execute: async (text, values = []) => (await this.#run(client, text, values)).count,
        });
        await this.#run(client, 'COMMIT', []);
        client.release();
        return result;
      } catch (error) {
        await this.#rollBack(client, error);
        throw error;
      }
    });
  }

  async #runAnywhere(
    text: string,
    values: readonly Value[],
    mayPrepare = true,
  ): Promise<StatementResult> {
    const client = await this.#connect();
    try {
      const result = await this.#run(client, text, values, mayPrepare);
      client.release();
      return result;
    } catch (error) {
      client.release(error instanceof StoreUnavailableError || isLostPreparation(error));
      throw error;
    }
  }

  async #rollBack(client: PoolClient, error: unknown): Promise<void> {
    if (error instanceof StoreUnavailableError || isLostPreparation(error)) {
      client.release(true);
      return;
    }
    await this.#run(client, 'ROLLBACK', []).then(
      () => client.release(),
      () => client.release(true),
    );
  }

  async #connect(): Promise<PoolClient> {
    const { connections } = this.#options;
    try {
      if (connections.isLost) await connections.find();
      return await connections.pool.connect();
    } catch (error) {
      throw this.#noted(error);
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
      // The driver reads query_timeout, although its types do not contain it.
      const sent = this.#texts.use(text, mayPrepare);
      const query = { ...sent, values: [...values], query_timeout: timeoutMs };
      const result = await client.query<Readonly<Record<string, unknown>>>(query);
      outage.end();
      return { rows: result.rows.map((row) => new Row(row)), count: result.rowCount ?? 0 };
    } catch (error) {
      throw this.#noted(error);
    }
  }

  /** Notes that the server cannot be reached, if that is what the error says. */
  #noted(error: unknown): Error {
    // Both functions have looked whether it is an error.
    if (isConflict(error)) return error as Error;
    if (isLostPreparation(error)) {
      this.#texts.stopPreparing();
      return error as Error;
    }
    const storeError = storeErrorOf(error);
    if (storeError instanceof StoreUnavailableError) {
      this.#options.outage.begin();
      this.#options.connections.lost();
    }
    return storeError;
  }

  async #repeatOnConflict<Result>(run: () => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await run();
      } catch (error) {
        if (!isConflict(error) && !isLostPreparation(error)) throw error;
        if (attempt === ATTEMPTS_MAX) throw storeErrorOf(error);
      }
      // Two that met once do not meet again at the same moment.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * RETRY_MS_MAX * attempt));
    }
  }
}
