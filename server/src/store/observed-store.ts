/**
 * A store with somebody watching: metrics, counting of operations, faults in tests.
 *
 * The observer sees every operation before and after it happens, and can stand in its way: `before` may throw or never
 * resolve (the process dies before the n-th store call), `after` may throw (the write happened, its answer got lost;
 * rule S5). An observer that does neither changes nothing.
 */
import {
  callOperation,
  STORE_OPERATION_KINDS,
  storeMethods,
  type OperationArguments,
  type OperationResult,
  type StoreOperation,
  type StoreOperationKind,
} from './store-operations.js';
import type { Store } from './store.js';

export { STORE_OPERATION_KINDS, type StoreOperation, type StoreOperationKind };

export interface StoreCall {
  readonly name: StoreOperation;
  readonly kind: StoreOperationKind;
  readonly args: readonly unknown[];
}

export interface FinishedStoreCall extends StoreCall {
  readonly durationMs: number;
  /** What the operation failed with, or null. */
  readonly error: unknown;
}

export interface StoreObserver {
  /** The operation happens after this has resolved, and not at all when it throws. */
  before?(call: StoreCall): void | Promise<void>;
  /** The caller gets its answer after this has resolved; when it throws, it gets that error instead. */
  after?(call: FinishedStoreCall): void | Promise<void>;
}

export function observeStore(store: Store, observer: StoreObserver): Store {
  async function call<Name extends StoreOperation>(
    name: Name,
    args: OperationArguments<Name>,
  ): Promise<OperationResult<Name>> {
    const seen: StoreCall = { name, kind: STORE_OPERATION_KINDS[name], args };
    const permission = observer.before?.(seen);
    // Not waiting for nothing keeps the memory store's promise to have done its work when the call returns.
    if (permission !== undefined) await permission;
    const startedAt = performance.now();
    const finished = (error: unknown): FinishedStoreCall => ({
      ...seen,
      durationMs: performance.now() - startedAt,
      error,
    });
    let result: OperationResult<Name>;
    try {
      result = await callOperation(store, name, args);
    } catch (error) {
      await observer.after?.(finished(error));
      throw error;
    }
    await observer.after?.(finished(null));
    return result;
  }
  return {
    kind: store.kind,
    storesDeliveries: store.storesDeliveries,
    start: () => store.start(),
    stop: () => store.stop(),
    ...storeMethods(call),
  };
}
