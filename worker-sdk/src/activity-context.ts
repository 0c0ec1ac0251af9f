/** What a handler sees beside its parameters. */
import type { WorkerLog } from './log.js';

export interface ActivityContext {
  readonly activityName: string;
  readonly workflowId: string;
  /** The step of the definition that hands out the work. */
  readonly stepId: string;
  /** The execution of the step: each turn of a loop is another one. */
  readonly executionId: number;
  /**
   * Names this work: the same in all of its attempts, and different for each execution of each workflow. Pass it on as the
   * key of the payment, the mail, the record, so that doing the work twice has the effect of doing it once.
   */
  readonly idempotencyKey: string;
  /** Which hand-out it is, from 1: later ones follow a failure or a lost lease. */
  readonly attempt: number;
  /**
   * Fires when the lease is lost (`LeaseLostError`) or the worker stops (`WorkerStoppedError`). Hand it on to `fetch` and
   * the like; what the handler does after it counts for nothing.
   */
  readonly signal: AbortSignal;
  /** Writes to the worker's log, with the ids above in every line. */
  readonly log: WorkerLog;
  /**
   * Extends the lease now. The worker does so by itself; a handler that blocks the event loop for long calls it in
   * between. Rejects when the lease is lost.
   */
  readonly heartbeat: () => Promise<void>;
}
