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
import { StoreUnavailableError } from '../store.js';

const DUPLICATE_KEY = 11000;

/**
 * Server errors that do not concern the statement: the server is stopping, stepping down, interrupted or out of space,
 * or rejects the login. https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
 */
const UNAVAILABLE_CODES: ReadonlySet<number> = new Set([
  6, 7, 13, 18, 24, 43, 50, 64, 89, 91, 112, 133, 134, 189, 202, 262, 290, 317, 358, 365, 8000,
  9001, 10058, 10107, 11600, 11601, 11602, 12500, 13388, 13435, 13436, 14031,
]);

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** The positions in an unordered insert that already existed. Any other failure is thrown. */
export function duplicatesOf(error: unknown): readonly number[] {
  if (!(error instanceof MongoBulkWriteError)) throw error;
  const failures = writeErrorsOf(error);
  // Without a failed write, the command itself failed, and the outcome of its writes is unknown.
  if (failures.length === 0 || failures.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return failures.map(({ index }) => index);
}

/** The driver has either one error or a list here. */
function writeErrorsOf(error: MongoBulkWriteError): readonly WriteError[] {
  return [error.writeErrors].flat();
}

/** Translates an error for callers of the contract. */
export function storeErrorOf(error: unknown): Error {
  if (error instanceof StoreUnavailableError) return error;
  if (isSocketError(error) || (error instanceof MongoError && isUnavailable(error))) {
    return new StoreUnavailableError(`The database did not respond: ${error.message}`, {
      cause: error,
    });
  }
  return error instanceof Error ? error : new Error(String(error));
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

/** The driver closed a connection or had none left. Some of these classes are not exported. */
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
