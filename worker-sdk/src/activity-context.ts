/** The second argument of a handler. */
import type { WorkerLog } from './log.js';

export interface ActivityContext {
  readonly activityName: string;
  readonly workflowId: string;
  /** The Activity step of the definition. */
  readonly stepId: string;
  /** The execution of the step. Each iteration of a loop is a separate execution. */
  readonly executionId: number;
  /**
   * Identifies this work: the same in all attempts of an execution, and different for every other execution. Pass it on as the
   * key of the payment, mail or record, so that doing the work twice has the same effect as doing it once.
   */
  readonly idempotencyKey: string;
  /** The span that this work belongs to, as the `traceparent` header; undefined if the server doesn't record traces. */
  readonly traceparent?: string;
  /** Vendor data from upstream tracing systems, as the `tracestate` header; undefined if there is none. */
  readonly tracestate?: string;
  /** The number of this attempt, from 1. Later attempts follow a failure or a lost lease. */
  readonly attempt: number;
  /**
   * Aborted when the lease is lost (`LeaseLostError`), when the run is being undone (`WorkCancelledError`), or when the worker
   * stops and its grace period is over (`WorkerStoppedError`). Pass it on to `fetch` and similar calls. Errors that the handler
   * throws afterwards are not reported, except an `ActivityFailure` after a `WorkCancelledError`.
   */
  readonly signal: AbortSignal;
  /** Writes to the worker's log, and adds the activity, run, step and attempt to each entry. */
  readonly log: WorkerLog;
  /**
   * Extends the lease now. The worker does this automatically; only a handler that blocks the event loop for a long time needs
   * to call it. Rejects with a `LeaseLostError` if the lease is lost, and with a `WorkCancelledError` if the run was undone without
   * this work.
   */
  readonly heartbeat: () => Promise<void>;
}
