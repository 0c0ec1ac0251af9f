/**
 * One work item, from its arrival to its report.
 *
 * Owns: the lease, the execution of the handler, the report. Must not know: polling, other work items.
 *
 * Invariants:
 *  WH1 An item ends in exactly one way: succeeded, failed, dropped or released.
 *  WH2 Nothing is reported after a release.
 */
import { isApiError, type StepwrightClient, type WorkItem } from '@stepwright/sdk';
import type { ActivityContext } from './activity-context.js';
import type { RegisteredActivity } from './activity-handlers.js';
import { ActivityFailure, WorkCancelledError, WorkerStoppedError } from './errors.js';
import { describeFailure, isRetryable } from './failure-report.js';
import { Lease } from './lease.js';
import { logWith, type WorkerLog } from './log.js';
import { aborted, type BackoffRange } from './backoff.js';
import { report, type HandlerOutcome } from './report.js';
import { runHandler, type Middleware } from './run-handler.js';
import type { EventHub, WorkSubject } from './worker-events.js';

export interface WorkInHandOptions {
  readonly client: StepwrightClient;
  readonly item: WorkItem;
  readonly activity: RegisteredActivity;
  readonly middleware: readonly Middleware[];
  readonly events: EventHub;
  readonly log: WorkerLog;
  readonly backoff: BackoffRange;
}

export type WorkEnd = 'succeeded' | 'failed' | 'dropped' | 'released';

export class WorkInHand {
  readonly #options: WorkInHandOptions;
  readonly #lease: Lease;
  readonly #subject: WorkSubject;
  readonly #log: WorkerLog;
  readonly #givenUp = new AbortController();
  readonly #began = performance.now();
  #isReporting = false;
  /** Resolves when the work is reported, dropped or released. */
  readonly ended: Promise<WorkEnd>;

  constructor(options: WorkInHandOptions) {
    this.#options = options;
    const { activity, client, events, item, log } = options;
    this.#subject = subjectOf(item);
    this.#log = logWith(log, { ...this.#subject });
    this.#lease = new Lease({
      client,
      item,
      leaseSeconds: activity.leaseSeconds,
      onLost: () => {
        this.#log.warn('the lease was lost');
        events.emit('leaseLost', this.#subject);
      },
      onCanceled: () => {
        this.#log.info('the run is being undone: aborting the signal of the handler');
        events.emit('cancelled', this.#subject);
      },
    });
    this.ended = this.#run().finally(() => this.#lease.end());
  }

  /** Resolves when the pending outcome has been reported. Null while the handler is running. */
  get pendingReport(): Promise<WorkEnd> | null {
    return this.#isReporting ? this.ended : null;
  }

  /** Aborts the signal of the handler, because the worker can no longer wait for it. */
  interrupt(): void {
    this.#lease.abort(new WorkerStoppedError());
  }

  /** Releases the work item, even if its handler is still running. */
  giveUp(): void {
    this.#givenUp.abort();
  }

  async #run(): Promise<WorkEnd> {
    this.#options.events.emit('received', this.#subject);
    const handled = this.#handle();
    const outcome = await Promise.race([handled, aborted(this.#givenUp.signal)]);
    if (outcome === null) return this.#release();
    if (!outcome.succeeded && this.#hasGivenUp(outcome.error)) return this.#abandon(outcome.error);
    this.#lease.unwatch();
    this.#isReporting = true;
    return this.#report(outcome);
  }

  /**
   * A handler that threw because its signal was aborted has not failed. An ActivityFailure counts only after a cancellation,
   * where it means that there is nothing to undo. Any other error may be caused by the abort in the middle of the work.
   */
  #hasGivenUp(error: unknown): boolean {
    const { signal } = this.#lease;
    const isDeliberate =
      signal.reason instanceof WorkCancelledError && error instanceof ActivityFailure;
    return signal.aborted && !isDeliberate;
  }

  async #handle(): Promise<HandlerOutcome & { readonly error?: unknown }> {
    const { activity, item, middleware } = this.#options;
    try {
      const result = await runHandler(activity, middleware, item.parameters, this.#context());
      return { succeeded: true, result };
    } catch (error) {
      const retryable = isRetryable(error);
      return { succeeded: false, failure: describeFailure(error), retryable, error };
    }
  }

  #context(): ActivityContext {
    const { executionId, idempotencyKey, traceparent, tracestate } = this.#options.item;
    return {
      ...this.#subject,
      executionId,
      idempotencyKey,
      ...(traceparent !== undefined && { traceparent }),
      ...(tracestate !== undefined && { tracestate }),
      signal: this.#lease.signal,
      log: this.#log,
      heartbeat: () => this.#lease.extend(),
    };
  }

  async #report(outcome: HandlerOutcome & { readonly error?: unknown }): Promise<WorkEnd> {
    const { activity, backoff, client, events, item } = this.#options;
    const reported = await report(outcome, {
      client,
      item,
      lease: this.#lease,
      leaseSeconds: activity.leaseSeconds,
      backoff,
      signal: this.#givenUp.signal,
    });
    const tookMs = this.#tookMs();
    if (reported === 'canceled') return this.#drop('cancelled');
    if (reported === 'too-late') {
      return this.#givenUp.signal.aborted ? this.#release() : this.#drop('late');
    }
    if (outcome.succeeded && reported === 'accepted') {
      events.emit('succeeded', { ...this.#subject, tookMs });
      return 'succeeded';
    }
    const error = outcome.succeeded ? new Error('the result cannot be reported') : outcome.error;
    this.#log.warn('the activity failed', { error });
    events.emit('failed', { ...this.#subject, tookMs, error });
    return 'failed';
  }

  #drop(reason: 'late' | 'cancelled'): WorkEnd {
    if (reason === 'late') this.#log.debug('the result came too late');
    else this.#log.warn('the result came too late: the work was canceled');
    this.#options.events.emit('dropped', { ...this.#subject, tookMs: this.#tookMs(), reason });
    return 'dropped';
  }

  async #abandon(error: unknown): Promise<WorkEnd> {
    const { reason } = this.#lease.signal as { readonly reason: unknown };
    if (reason instanceof WorkerStoppedError) return this.#release();
    if (reason instanceof WorkCancelledError) {
      this.#log.info('releasing the canceled work', { error });
      return this.#release();
    }
    // If the server was unavailable, the lease may still be valid. Releasing it lets another worker claim the item sooner.
    this.#lease.end();
    const { client, item } = this.#options;
    await giveBack(client, item, this.#log);
    return this.#drop('late');
  }

  async #release(): Promise<WorkEnd> {
    const { client, events, item } = this.#options;
    this.#lease.end();
    return releaseItem(client, item, events, this.#log);
  }

  #tookMs(): number {
    return performance.now() - this.#began;
  }
}

/** Releases an item that this worker will not finish. */
export async function releaseItem(
  client: StepwrightClient,
  item: WorkItem,
  events: EventHub,
  log: WorkerLog,
): Promise<WorkEnd> {
  await giveBack(client, item, log);
  events.emit('released', subjectOf(item));
  return 'released';
}

/** If this fails, the lease will end, which has the same effect a little later. */
async function giveBack(client: StepwrightClient, item: WorkItem, log: WorkerLog): Promise<void> {
  try {
    await client.activities.release(item, { timeoutMs: 5000, retry: { limit: 2 } });
  } catch (error) {
    const isGone = isApiError(error, 'activity_not_found') || isApiError(error, 'work_cancelled');
    if (!isGone) log.warn('could not release the work item', { error });
  }
}

function subjectOf({ activityName, workflowId, stepId, attempt }: WorkItem): WorkSubject {
  return { activityName, workflowId, stepId, attempt };
}
