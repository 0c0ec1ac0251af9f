/** What goes wrong in a worker, and how a handler says that its work failed. */

/** What an `ActivityFailure` takes beside its message. */
export interface ActivityFailureOptions {
  /** Any JSON value: `data` of the step's error. */
  readonly data?: unknown;
  /** The error that led to it; it stays in this process. */
  readonly cause?: unknown;
  /**
   * Whether another attempt may succeed. With `false` the step is not retried and goes on to its `OnRetriesExhausted`.
   *
   * @default true
   */
  readonly retryable?: boolean;
}

/**
 * Thrown by a handler to fail its activity with data of its own, or without a retry. Any other error fails the activity too,
 * with its name and message, and is retried as the definition says.
 *
 * @example
 * ```ts
 * import { ActivityFailure, Worker } from '@stepwright/worker-sdk';
 *
 * const worker = new Worker({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   activities: {
 *     'charge-card': ({ amount }: { amount: number }) => {
 *       if (amount < 0) {
 *         throw new ActivityFailure('an amount is positive', { data: { amount }, retryable: false });
 *       }
 *       return { receipt: `r-${amount}` };
 *     },
 *   },
 * });
 * await worker.run();
 * ```
 */
export class ActivityFailure extends Error {
  override readonly name = 'ActivityFailure' as const;
  readonly data: unknown;
  readonly retryable: boolean;

  constructor(message: string, { cause, data, retryable = true }: ActivityFailureOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.data = data;
    this.retryable = retryable;
  }
}

/** What a schema found in parameters or a result. */
export interface SchemaIssue {
  readonly message: string;
  /** Where it is, such as `items.0.price`. */
  readonly path: string;
}

/**
 * Parameters or a result do not fit their schema. It fails the activity.
 *
 * @example
 * ```ts
 * import { InvalidDataError, Worker } from '@stepwright/worker-sdk';
 * import { z } from 'zod';
 *
 * const worker = new Worker({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   activities: {
 *     'send-mail': { parameters: z.email(), handler: (address) => console.log(address) },
 *   },
 * });
 * worker.on('failed', ({ error }) => {
 *   if (error instanceof InvalidDataError) console.log(error.issues);
 * });
 * await worker.run();
 * ```
 */
export class InvalidDataError extends Error {
  override readonly name = 'InvalidDataError' as const;
  readonly issues: readonly SchemaIssue[];

  constructor(what: 'parameters' | 'result', issues: readonly SchemaIssue[]) {
    const shown = issues.map(({ path, message }) =>
      path === '' ? message : `${path}: ${message}`,
    );
    super(`the ${what} do not fit: ${shown.join('; ')}`);
    this.issues = issues;
  }
}

/**
 * The reason of `context.signal` when the work is this worker's no longer: another one may have it, or nobody needs it.
 *
 * @example
 * ```ts
 * import { LeaseLostError, Worker } from '@stepwright/worker-sdk';
 *
 * const worker = new Worker({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   activities: {
 *     'charge-card': (_parameters, { signal }) => {
 *       signal.addEventListener('abort', () => {
 *         if (signal.reason instanceof LeaseLostError) console.log(`not mine: ${signal.reason.workflowId}`);
 *       });
 *       return { receipt: 'r-1' };
 *     },
 *   },
 * });
 * await worker.run();
 * ```
 */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError' as const;
  readonly workflowId: string;
  readonly activityName: string;

  constructor(activityName: string, workflowId: string) {
    super(`the lease on '${activityName}' of workflow ${workflowId} is lost`);
    this.activityName = activityName;
    this.workflowId = workflowId;
  }
}

/**
 * The reason of `context.signal` when the worker stops and its grace is over.
 *
 * @example
 * ```ts
 * import { WorkerStoppedError, Worker } from '@stepwright/worker-sdk';
 *
 * const worker = new Worker({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   activities: {
 *     'charge-card': (_parameters, { signal, log }) => {
 *       signal.addEventListener('abort', () => {
 *         if (signal.reason instanceof WorkerStoppedError) log.info('writing down how far it got');
 *       });
 *       return { receipt: 'r-1' };
 *     },
 *   },
 * });
 * await worker.run();
 * ```
 */
export class WorkerStoppedError extends Error {
  override readonly name = 'WorkerStoppedError' as const;

  constructor() {
    super('the worker stops');
  }
}
