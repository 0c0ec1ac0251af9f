/**
 * A store whose searches are bounded for all callers together: a few at a time for each caller and for all, the others wait
 * in turn, and what is too much is refused.
 *
 * The operations say of themselves whether they are searches (`STORE_OPERATION_KINDS`), and the request says who its caller
 * is. So no endpoint can forget to take a turn. The server's own work takes none.
 */
import { AppError } from '../base/errors.js';
import { currentCaller, type Caller } from '../base/limits/current-caller.js';
import { QueueFullError, type Permit, type WeightedQueue } from '../base/limits/weighted-queue.js';
import { CanceledError } from '../base/slices.js';
import {
  callOperation,
  STORE_OPERATION_KINDS,
  storeMethods,
  type OperationArguments,
  type OperationResult,
  type StoreOperation,
} from './store-operations.js';
import type { Store } from './store.js';

export interface SearchBounds {
  /** Each search weighs 1. */
  readonly queue: WeightedQueue;
  /** `caller`: too many searches of this caller wait; `all`: too many of all callers. */
  readonly refused: (of: 'caller' | 'all') => void;
}

const RETRY_AFTER_SECONDS = 1;

/**
 * The searches of the store can throw AppError `too_many_requests` and `overloaded`, and CanceledError once the caller has
 * gone.
 */
export function boundSearches(store: Store, bounds: SearchBounds): Store {
  async function search<Name extends StoreOperation>(
    name: Name,
    args: OperationArguments<Name>,
  ): Promise<OperationResult<Name>> {
    const caller = currentCaller();
    if (caller === null) return callOperation(store, name, args);
    if (caller.gone.aborted) throw new CanceledError();
    // Not waiting for nothing keeps the memory store's promise to have done its work when the call returns.
    const permit = bounds.queue.tryEnter(caller.key, 1) ?? (await wait(bounds, caller));
    try {
      return await callOperation(store, name, args);
    } finally {
      permit.release();
    }
  }
  return {
    kind: store.kind,
    storesDeliveries: store.storesDeliveries,
    start: () => store.start(),
    stop: () => store.stop(),
    ...storeMethods((name, args) =>
      STORE_OPERATION_KINDS[name] === 'search'
        ? search(name, args)
        : callOperation(store, name, args),
    ),
  };
}

async function wait({ queue, refused }: SearchBounds, { gone, key }: Caller): Promise<Permit> {
  try {
    return await queue.enter(key, 1, gone);
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw new CanceledError();
    const retry = { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS };
    const isCaller = error.shortage === 'share';
    refused(isCaller ? 'caller' : 'all');
    throw isCaller
      ? new AppError('too_many_requests', 'Too many of your searches are waiting', retry)
      : new AppError('overloaded', 'Too many searches are waiting', retry);
  }
}
