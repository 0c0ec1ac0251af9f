/**
 * What the server records of its work for a tracing backend. Without it, nothing is recorded: callers ask `tracing?`.
 *
 *  OT1 A span is recorded once its work has ended, with ids that were known before. So a span survives a restart between
 *      the beginning and the end of its work, and another node can refer to it.
 *  OT2 Attributes have names, numbers and types of errors, never data: no values of expressions, paths, keys or messages.
 */
import type { StoreObserver } from '../store/observed-store.js';
import type { Store } from '../store/store.js';
import type { TraceContext } from './trace-context.js';

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanEvent {
  readonly name: string;
  readonly time: number;
  readonly attributes: SpanAttributes;
}

export interface FinishedSpan {
  readonly context: TraceContext;
  /** Null: the root of its trace. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970. */
  readonly startTime: number;
  readonly endTime: number;
  readonly attributes: SpanAttributes;
  readonly events?: readonly SpanEvent[];
  readonly links?: readonly TraceContext[];
  /** The type of the error with which the work failed. Default: it did not fail. */
  readonly errorType?: string;
}

/** Records the calls of the store inside the request or the run that makes them. */
export interface TracedStoreCalls {
  /** Runs the work inside this span. The function that it gets ends it: what it leaves running is recorded no more. */
  within<Result>(context: TraceContext, run: (end: () => void) => Result): Result;
  /** Sees all calls of this store. */
  observer(kind: Store['kind']): StoreObserver;
}

export interface Tracing {
  /** Null: calls of the store are not recorded. */
  readonly storeCalls: TracedStoreCalls | null;
  /** A new span in the trace of its parent, or in a new trace, for which the sampler decides. */
  begin(parent: TraceContext | null): TraceContext;
  /** Whether the sampler records a new trace with this id. */
  decides(traceId: string): boolean;
  /** Never waits, and never throws. Ignores spans that are not sampled. */
  record(span: FinishedSpan): void;
  /** Sends what is still to be sent, for a limited time. */
  stop(): Promise<void>;
}
