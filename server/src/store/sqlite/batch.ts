/**
 * Group commit: operations that arrive while a commit is being synced share the next commit.
 *
 * Invariants: replies are sent only after the commit (S1). An operation that fails on its own doesn't affect the
 * others: the batch is rolled back, and each operation runs in its own transaction. If the file or the disk fails, all
 * writes of the batch fail at once, and reads are retried individually.
 */
import { STORE_OPERATION_KINDS, type StoreOperation } from '../store-operations.js';
import { type Database, retryWhileBusy } from './database.js';
import { isTooBig, unavailableMessage } from './sqlite-errors.js';
import { SQLITE_OPERATIONS } from './statements/operation-table.js';
import type { ThreadFailure, ThreadReply, ThreadRequest } from './thread-protocol.js';

export function runBatch(
  database: Database,
  requests: readonly ThreadRequest[],
): readonly ThreadReply[] {
  try {
    return attempt(database, requests);
  } catch (error) {
    const failure = failureOf(error, database.path);
    return requests.flatMap((request) =>
      requests.length === 1 || (failure.unavailable && isWrite(request))
        ? [{ id: request.id, failure }]
        : runBatch(database, [request]),
    );
  }
}

/** A search, on the connection that only reads. */
export function runSearch(database: Database, request: ThreadRequest): ThreadReply {
  try {
    const result = retryWhileBusy(database.busyTimeoutMs, () =>
      database.snapshot(() => runOne(database, request)),
    );
    return { id: request.id, result };
  } catch (error) {
    return { id: request.id, failure: failureOf(error, database.path) };
  }
}

export function failureOf(error: unknown, path: string): ThreadFailure {
  const message = unavailableMessage(error, path);
  if (message !== null) return { unavailable: true, refused: false, message };
  return {
    unavailable: false,
    refused: isTooBig(error),
    message: error instanceof Error ? error.message : String(error),
  };
}

function attempt(database: Database, requests: readonly ThreadRequest[]): readonly ThreadReply[] {
  const runAll = (): readonly ThreadReply[] =>
    requests.map((request) => ({ id: request.id, result: runOne(database, request) }));
  return retryWhileBusy(database.busyTimeoutMs, () =>
    requests.some(isWrite) ? database.transaction(runAll) : runAll(),
  );
}

function runOne<Name extends StoreOperation>(
  database: Database,
  { name, args }: ThreadRequest<Name>,
): unknown {
  return SQLITE_OPERATIONS[name](database, args);
}

function isWrite({ name }: ThreadRequest): boolean {
  return STORE_OPERATION_KINDS[name] === 'write';
}
