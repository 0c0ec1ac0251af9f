/** Translates the driver's errors into those of the contract. */
import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
  type WriteError,
} from 'mongodb';
import { StoreRefusedError, StoreUnavailableError } from '../store.js';

export const DUPLICATE_KEY = 11000;

/**
 * Server errors that don't concern the statement: the server is stopping, stepping down, interrupted or out of space,
 * or rejects the login. https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
 */
const UNAVAILABLE_CODES: ReadonlySet<number> = new Set([
  6, 7, 13, 18, 24, 43, 50, 64, 89, 91, 112, 133, 134, 189, 202, 262, 290, 317, 358, 365, 8000,
  9001, 10058, 10107, 11600, 11601, 11602, 12500, 13388, 13435, 13436, 14031,
]);

/**
 * The document is the reason, and would be refused again: it is too large, as it is (10334) or as an update makes it (17419,
 * 17420), or a value is too long for an index (17280).
 */
const REFUSAL_CODES: ReadonlySet<number> = new Set([10334, 17280, 17419, 17420]);

/** How the driver, and servers that only speak the protocol of MongoDB, say the same. */
const REFUSAL_MESSAGES = /larger than the maximum|too (?:large|long)|index row (?:requires|size)/i;

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

export interface WriteFailure {
  readonly code: number;
  readonly message: string;
}

/**
 * The writes of an unordered bulk write that failed, by position.
 * @throws the error, if the command itself failed: then nothing is known about its writes
 */
export function writeFailuresIn(error: unknown): ReadonlyMap<number, WriteFailure> {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = writeErrorsOf(error);
  if (failures.length === 0) throw error;
  return new Map(
    failures.map(({ code, errmsg = '', index }) => [index, { code, message: errmsg }]),
  );
}

/** Throws the error of a bulk write, unless all that failed is writes of documents that exist already. */
export function throwUnlessDuplicates(error: unknown): void {
  const failures = [...writeFailuresIn(error).values()];
  if (failures.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
}

/**
 * The error of a group of writes: unavailable if its outcome is unknown. Any other error means that the server refused the
 * command, or the driver didn't send it, so its writes may be repeated one by one.
 */
export function groupErrorOf(error: unknown): Error {
  if (error instanceof MongoBulkWriteError && error.result.getWriteConcernError() !== undefined) {
    return unavailable(error);
  }
  // What it says of one write must not be taken for all of them.
  if (error instanceof MongoBulkWriteError && writeErrorsOf(error).length > 0) return error;
  return storeErrorOf(error);
}

/** The driver has either one error or a list here. */
function writeErrorsOf(error: MongoBulkWriteError): readonly WriteError[] {
  return [error.writeErrors].flat();
}

/** Translates an error for callers of the contract. */
export function storeErrorOf(error: unknown): Error {
  if (error instanceof StoreUnavailableError || error instanceof StoreRefusedError) return error;
  if (isSocketError(error) || (error instanceof MongoError && isUnavailable(error))) {
    return unavailable(error);
  }
  if (isRefused(error)) {
    return new StoreRefusedError('a document or an indexed value is too large for MongoDB', error);
  }
  return error instanceof Error ? error : new Error(String(error));
}

function isRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The document doesn't fit into the buffer of the driver.
  if (error instanceof RangeError) return true;
  if (!(error instanceof MongoError)) return false;
  const isKnown = typeof error.code === 'number' && REFUSAL_CODES.has(error.code);
  return isKnown || REFUSAL_MESSAGES.test(error.message);
}

function unavailable(error: Error): StoreUnavailableError {
  return new StoreUnavailableError(`The database did not respond: ${error.message}`, {
    cause: error,
  });
}

/** A write to a connection that is being reset: the driver passes the error of the socket on unchanged. */
function isSocketError(error: unknown): error is Error {
  return error instanceof Error && !(error instanceof MongoError) && 'syscall' in error;
}

function isUnavailable(error: MongoError): boolean {
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError) return true;
  if (error instanceof MongoWriteConcernError) return true;
  // A connection lost during a bulk write is wrapped like a response of the server, but has no server error code.
  if (error instanceof MongoBulkWriteError && writeErrorsOf(error).length === 0) {
    if (typeof error.code !== 'number') return true;
  }
  if (error instanceof MongoServerError) {
    return (
      (typeof error.code === 'number' && UNAVAILABLE_CODES.has(error.code)) ||
      error.hasErrorLabel('RetryableWriteError') ||
      error.hasErrorLabel('TransientTransactionError')
    );
  }
  return CLIENT_ERRORS.has(error.name);
}

/** The driver closed a connection or had none left. Some of these classes aren't exported. */
const CLIENT_ERRORS: ReadonlySet<string> = new Set([
  'MongoTopologyClosedError',
  'MongoNotConnectedError',
  'MongoClientClosedError',
  'MongoPoolClosedError',
  'MongoPoolClearedError',
  'PoolClearedOnNetworkError',
  'MongoWaitQueueTimeoutError',
  'WaitQueueTimeoutError',
  'MongoServerClosedError',
  'MongoOperationTimeoutError',
  'MongoExpiredSessionError',
]);

export type GroupedOutcome<Result> = { readonly result: Result } | { readonly error: Error };

/** @throws the error of this request */
export function resultOf<Result>(outcome: GroupedOutcome<Result>): Result {
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}
