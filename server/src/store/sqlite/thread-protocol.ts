/** What the main thread and the database thread say to each other. Both post lists, one for all that is ready. */
import type { OperationArguments, StoreOperation } from '../operations.js';
import type { DatabaseOptions } from './database.js';

export type ThreadOptions = DatabaseOptions;

export interface ThreadRequest<Name extends StoreOperation = StoreOperation> {
  readonly id: number;
  readonly name: Name;
  readonly args: OperationArguments<Name>;
}

/** `close` ends the thread, after everything that was asked before it. */
export type ToThread = readonly ThreadRequest[] | 'close';

export interface ThreadFailure {
  /** True for what concerns the file or the machine: becomes a StoreUnavailableError. */
  readonly unavailable: boolean;
  readonly message: string;
}

export type ThreadReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly failure: ThreadFailure };

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly failure: ThreadFailure }
  | { readonly kind: 'replies'; readonly replies: readonly ThreadReply[] };
