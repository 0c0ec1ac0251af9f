/**
 * Calls of operations on a database server: each ends in time (rule S5), and hardly any is tried while the server is
 * unreachable.
 */
import type { Outage } from './outage.js';
import { isClaimed } from './records/activities.js';
import {
  STORE_OPERATION_KINDS,
  type AsynchronousOperations,
  type CallOperation,
  type OperationResult,
  type StoreOperation,
} from './store-operations.js';
import { StoreUnavailableError } from './store.js';

/** What the operations use while the store is started. */
export interface RemoteContexts<Context> {
  readonly outage: Outage;
  readonly context: Context;
  /** For searches: with connections of their own, or with a limit on the time of the database. */
  readonly searchContext: Context;
  /** For operations that do a lot at once. */
  readonly longContext: Context;
}

export interface RemoteCallOptions<Context> {
  readonly operations: AsynchronousOperations<Context>;
  /** Null before the start and after the stop. */
  readonly opened: () => RemoteContexts<Context> | null;
  readonly timeoutMs: number;
  readonly errorOf: (error: unknown) => Error;
  /**
   * Releases an item whose claim came too late. The worker has already been told that there is no work; without this,
   * nobody would get the item before its lease ends.
   */
  readonly release: (context: Context, item: LateClaim) => Promise<void>;
}

export interface LateClaim {
  readonly id: string;
  readonly tokenHash: string;
  readonly createdAt: number;
}

/** Operations that do a lot at once, or several things in sequence. */
const LONG_OPERATIONS: ReadonlySet<StoreOperation> = new Set([
  'purge',
  'purgeBulkJobs',
  // MongoDB waits until every node knows.
  'setDefinitionDisabled',
  'statistics',
  'listActivityQueues',
  'probeAtomicity',
]);
export const LONG_OPERATION_TIMEOUT_MS = 30_000;

export function remoteCall<Context>(options: RemoteCallOptions<Context>): CallOperation {
  const { errorOf, opened, operations, release } = options;
  return async (name, args) => {
    const contexts = opened();
    if (contexts === null) {
      throw new StoreUnavailableError('The store has not been started, or has been stopped');
    }
    const isLong = LONG_OPERATIONS.has(name);
    const context = isLong ? contexts.longContext : contextFor(name, contexts);
    const operation: Promise<OperationResult<typeof name>> = contexts.outage.guard(() =>
      operations[name](context, args),
    );
    try {
      return await withinTime(operation, isLong ? LONG_OPERATION_TIMEOUT_MS : options.timeoutMs);
    } catch (error) {
      if (name === 'claimActivity') {
        // The name determines the type of the result.
        const claim = operation as Promise<OperationResult<'claimActivity'>>;
        releaseWhenClaimed(claim, (item) => release(context, item));
      }
      throw errorOf(error);
    }
  };
}

function contextFor<Context>(name: StoreOperation, contexts: RemoteContexts<Context>): Context {
  return STORE_OPERATION_KINDS[name] === 'search' ? contexts.searchContext : contexts.context;
}

/** If the item cannot be released, it is available again when its lease ends. A claim that fails has released its item. */
function releaseWhenClaimed(
  claim: Promise<OperationResult<'claimActivity'>>,
  release: (item: LateClaim) => Promise<void>,
): void {
  claim
    .then(async (item) => {
      if (!isClaimed(item) || item.tokenHash === null) return;
      await release({ id: item.id, tokenHash: item.tokenHash, createdAt: item.createdAt });
    })
    .catch(() => undefined);
}

/** The operation itself goes on. @throws StoreUnavailableError */
export async function withinTime<Result>(
  operation: Promise<Result>,
  timeoutMs: number,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `The database did not respond within ${timeoutMs} ms`;
      reject(new StoreUnavailableError(message));
    }, timeoutMs);
  });
  try {
    return await Promise.race([operation, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

const SEARCH_SHARE = 0.3;

/** 0: the pool is too small to be divided. */
export function searchConnectionsOf(poolMax: number): number {
  return Math.floor(poolMax * SEARCH_SHARE);
}

/**
 * The share of the time of an operation after which the database itself ends a search: the answer arrives before the caller
 * gives up, so the connection can be used again, and no abandoned search goes on.
 */
const TIME_SHARE = 0.9;

export function searchTimeoutOf(operationTimeoutMs: number): number {
  return Math.floor(operationTimeoutMs * TIME_SHARE);
}
