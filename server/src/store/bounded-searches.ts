/**
 * A store whose searches are bounded for all callers together: a few at a time for each caller and for all, the others wait
 * in turn, and what is too much is refused.
 *
 * The operations say of themselves whether they are searches (`STORE_OPERATION_KINDS`), and the request says who its caller
 * is. So no endpoint can forget to take a turn. The server's own work takes none.
 */
import { AppError } from '../base/errors.js';
import { currentCaller } from '../base/limits/current-caller.js';
import { QueueFullError, type EndTurn, type FairQueue } from '../base/limits/fair-queue.js';
import {
  callOperation,
  STORE_OPERATION_KINDS,
  storeMethods,
  type OperationArguments,
  type OperationResult,
  type StoreOperation,
} from './operations.js';
import type { Store } from './store.js';

export interface SearchBounds {
  readonly queue: FairQueue;
  /** `caller`: too many searches of this caller wait; `all`: too many of all callers. */
  readonly refused: (of: QueueFullError['of']) => void;
}

const RETRY_AFTER_SECONDS = 1;

/**
 * The searches of the store can throw AppError `too_many_requests` and `overloaded`, and NotWantedError once the caller has
 * gone.
 */
export function boundSearches(store: Store, bounds: SearchBounds): Store {
  async function search<Name extends StoreOperation>(
    name: Name,
    args: OperationArguments<Name>,
  ): Promise<OperationResult<Name>> {
    const caller = currentCaller();
    if (caller === null) return callOperation(store, name, args);
    const entered = enter(bounds, caller.key, caller.gone);
    // Not waiting for nothing keeps the memory store's promise to have done its work when the call returns.
    const endTurn = entered instanceof Promise ? await entered : entered;
    try {
      return await callOperation(store, name, args);
    } finally {
      endTurn();
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

function enter(
  { queue, refused }: SearchBounds,
  key: string,
  gone: AbortSignal,
): EndTurn | Promise<EndTurn> {
  try {
    return queue.enter(key, gone);
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error;
    refused(error.of);
    const retry = { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS };
    throw error.of === 'caller'
      ? new AppError('too_many_requests', 'Too many of your searches are waiting', retry)
      : new AppError('overloaded', 'Too many searches are waiting', retry);
  }
}
