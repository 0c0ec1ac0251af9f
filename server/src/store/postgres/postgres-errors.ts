/** Translates the errors of the driver and the server into those of the contract. */
import { DatabaseError } from 'pg';
import { NoServerError } from '../../postgres/servers.js';
import { StoreRefusedError, StoreUnavailableError } from '../store.js';

const UNIQUE_VIOLATION = '23505';

/** The statement was rolled back because of concurrent ones, and may be repeated. */
const CONFLICTS: ReadonlySet<string> = new Set(['40001', '40P01']);

const LOST_PREPARATION: ReadonlySet<string> = new Set(['26000', '42P05']);

const LOCK_NOT_AVAILABLE = '55P03';

/** The server ended the statement, because of a time limit or on request. */
const INTERRUPTIONS: ReadonlySet<string> = new Set([LOCK_NOT_AVAILABLE, '57014']);

const READ_ONLY_TRANSACTION = '25006';

/**
 * Errors that say nothing about the statement: the connection is lost (08), the server lacks resources (53), stops or
 * starts (57P), fails (58), refuses the login (28), is read-only because it is no longer the primary (25006), took too
 * long (57014, 55P03), or hasn't been set up yet (3D).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const UNAVAILABLE = /^(?:08|53|57P|58|28|25006|57014|55P03|3D)/;

/**
 * The values are the reason, and the statement would fail again: data exceptions (22) such as a null character in text, and
 * exceeded limits of the database (54) such as that of an index row.
 */
const REFUSALS: readonly (readonly [code: RegExp, reason: string])[] = [
  [/^22/, 'a value has characters or a size that PostgreSQL does not know'],
  [/^54/, 'a value is too long for an index or a row of PostgreSQL'],
];

/** Messages of the driver, whose errors have no codes. */
const DRIVER_MESSAGES =
  /connection (?:terminated|ended)|timeout|timed out|not queryable|server does not support SSL|cannot use a pool|disconnected/i;

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === UNIQUE_VIOLATION;
}

/**
 * A prepared statement is unknown, or already known, to the session that a pooler has chosen; or a newer server has changed
 * the tables since it was prepared.
 */
export function isLostPreparation(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  // The text of a plan that no longer fits is translated; the function that reports it isn't.
  return LOST_PREPARATION.has(error.code ?? '') || error.routine === 'RevalidateCachedQuery';
}

export function isInterruption(error: unknown): boolean {
  return error instanceof DatabaseError && INTERRUPTIONS.has(error.code ?? '');
}

/** The statement waited for a lock until its time limit, and was rolled back. `error` may be that of the contract. */
export function isLockTimeout(error: unknown): boolean {
  const reason = error instanceof StoreUnavailableError ? error.cause : error;
  return reason instanceof DatabaseError && reason.code === LOCK_NOT_AVAILABLE;
}

/** The statement writes, and the server is a standby or has been made read-only. */
export function isReadOnlyServer(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === READ_ONLY_TRANSACTION;
}

export function isConflict(error: unknown): boolean {
  return error instanceof DatabaseError && CONFLICTS.has(error.code ?? '');
}

/** The error as callers of the contract see it. */
export function storeErrorOf(error: unknown): Error {
  if (error instanceof StoreUnavailableError || error instanceof StoreRefusedError) return error;
  if (error instanceof NoServerError) {
    return new StoreUnavailableError(error.message, { cause: error });
  }
  if (isUnavailable(error)) {
    const reason = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
    const message = reason instanceof Error ? reason.message : String(reason);
    return new StoreUnavailableError(`The database did not answer: ${message}`, { cause: error });
  }
  const refusal = refusalOf(error);
  if (refusal !== null) return refusal;
  return error instanceof Error ? error : new Error(String(error));
}

function refusalOf(error: unknown): StoreRefusedError | null {
  if (!(error instanceof DatabaseError)) return null;
  const { code = '' } = error;
  const reason = REFUSALS.find(([codes]) => codes.test(code))?.[1];
  return reason === undefined ? null : new StoreRefusedError(reason, error);
}

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError) {
    return UNAVAILABLE.test(error.code ?? '') || isConflict(error);
  }
  return isSocketError(error) || DRIVER_MESSAGES.test(error.message);
}

/** The driver passes the errors of sockets and of TLS on as they are; several addresses of one host give one of many. */
function isSocketError(error: Error): boolean {
  if (error instanceof AggregateError) return true;
  const code = 'code' in error ? String(error.code) : '';
  return (
    'syscall' in error ||
    /^(?:E[A-Z]+|ERR_(?:SSL|TLS|SOCKET)|CERT_|DEPTH_|SELF_|UNABLE_)/.test(code)
  );
}
