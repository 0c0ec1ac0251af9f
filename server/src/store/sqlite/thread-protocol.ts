/**
 * The messages between the main thread and the database thread. Both post lists that contain everything that is ready.
 */
import type { OperationArguments, StoreOperation } from '../store-operations.js';
import type { DatabaseOptions } from './database.js';

export type ThreadOptions = DatabaseOptions;

export interface ThreadRequest<Name extends StoreOperation = StoreOperation> {
  readonly id: number;
  readonly name: Name;
  readonly args: OperationArguments<Name>;
}

/** `close` ends the thread after all earlier requests. */
export type ToThread = readonly ThreadRequest[] | 'close';

export interface ThreadFailure {
  /** True if the error concerns the file or the machine: it becomes a StoreUnavailableError. */
  readonly unavailable: boolean;
  /** True if the data of the operation is the reason: it becomes a StoreRefusedError. */
  readonly refused: boolean;
  readonly message: string;
}

export type ThreadReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: ThreadFailure };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly failure: ThreadFailure }
  | { readonly kind: 'replies'; readonly replies: readonly ThreadReply[] };
