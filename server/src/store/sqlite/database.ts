/** A connection to the database file, with its prepared statements. Its calls block; it lives in the worker thread. */
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  closeToOthers,
  createPrivateFile,
  makePrivateDirectory,
} from '../../base/private-files.js';
import { Row } from './row.js';
import { prepareSchema } from './schema.js';
import { isBusy } from './sqlite-errors.js';

/**
 * How long SQLite itself waits for a lock. Short, because the pauses between its attempts grow to 100 ms, which starves
 * one of two busy processes; `retryWhileBusy` retries far more often.
 */
const SQLITE_BUSY_TIMEOUT_MS = 5;

/** Of the connection for searches; most pages are in the cache of the operating system, too. */
const SEARCH_CACHE = 'PRAGMA cache_size = -16384;';

/** Searches have many different texts. */
const STATEMENTS_MAX = 1000;

export interface DatabaseOptions {
  readonly path: string;
  /** How long an operation waits for other processes before it fails. */
  readonly busyTimeoutMs: number;
  /** For searches: the file exists, and has been prepared. @default false */
  readonly isReadOnly?: boolean;
}

/** What SQLite writes beside a database; after a crash, it is still there. */
function besideOf(path: string): readonly string[] {
  return [`${path}-wal`, `${path}-shm`, `${path}-journal`];
}

export class Database {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor({ busyTimeoutMs, isReadOnly = false, path }: DatabaseOptions) {
    this.path = path;
    this.busyTimeoutMs = busyTimeoutMs;
    if (!isReadOnly) {
      makePrivateDirectory(dirname(path));
      // SQLite gives the files beside it the rights of the database.
      createPrivateFile(path);
      for (const file of besideOf(path)) closeToOthers(file);
    }
    const options = { timeout: SQLITE_BUSY_TIMEOUT_MS, readOnly: isReadOnly };
    this.#connection = new DatabaseSync(path, options);
    try {
      retryWhileBusy(busyTimeoutMs, () => {
        if (isReadOnly) this.#connection.exec(SEARCH_CACHE);
        else this.#prepareFile();
      });
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  /** Each statement is prepared once per text. The texts are constants, or composed of a few parts. */
  run(sql: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  get(sql: string, ...values: readonly SQLInputValue[]): Row | null {
    const columns = this.#statement(sql).get(...values);
    return columns === undefined ? null : new Row(columns);
  }

  all(sql: string, ...values: readonly SQLInputValue[]): readonly Row[] {
    return this.#statement(sql)
      .all(...values)
      .map((columns) => new Row(columns));
  }

  /** Row by row, as they are needed. */
  *each(sql: string, ...values: readonly SQLInputValue[]): Generator<Row> {
    for (const columns of this.#statement(sql).iterate(...values)) yield new Row(columns);
  }

  /** Runs `work` in a write transaction. If it throws or the commit fails, nothing is changed. */
  transaction<Result>(work: () => Result): Result {
    return this.#within('BEGIN IMMEDIATE', work);
  }

  /** Runs `work` in the current transaction. It may undo all that it has changed. */
  undoable<Result>(work: (undo: () => void) => Result): Result {
    this.run('SAVEPOINT undoable');
    const result = work(() => this.run('ROLLBACK TO undoable'));
    this.run('RELEASE undoable');
    return result;
  }

  /** Runs `work` on the state of one moment, which includes every commit before it. Others may write at the same time. */
  snapshot<Result>(work: () => Result): Result {
    return this.#within('BEGIN', work);
  }

  #within<Result>(begin: string, work: () => Result): Result {
    this.run(begin);
    try {
      const result = work();
      this.run('COMMIT');
      return result;
    } catch (error) {
      // SQLite rolls back by itself after some errors.
      if (this.#connection.isTransaction) this.run('ROLLBACK');
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }

  #prepareFile(): void {
    // FULL: a commit is on disk before it is answered (rule S1). WAL: readers and the writer don't block each other.
    this.#connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    this.#connection.exec('PRAGMA cache_size = -32768; PRAGMA journal_size_limit = 67108864;');
    this.transaction(() => {
      prepareSchema(this.#connection, this.path);
    });
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      if (this.#statements.size === STATEMENTS_MAX) this.#statements.clear();
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const PAUSE_MS_MAX = 2;
const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Retries `work` while another process holds the lock, until the time is up. The pauses are short and random, because a
 * process that writes continuously frees the lock only for moments. Blocks its thread.
 */
export function retryWhileBusy<Result>(timeoutMs: number, work: () => Result): Result {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error;
      Atomics.wait(pauseCell, 0, 0, Math.random() * PAUSE_MS_MAX);
    }
  }
}
