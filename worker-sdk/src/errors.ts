/** The errors of a worker, and the error that a handler throws to report a failure. */

/** The options of an `ActivityFailure`. */
export interface ActivityFailureOptions {
  /**
   * The kind of failure, such as `CardDeclined`. If the step lists it in `NonRetryable`, it isn't retried. By default, the class
   * name if the class is a subclass of `ActivityFailure`.
   */
  readonly type?: string;
  /** Any JSON value. It becomes the `data` of the step error. */
  readonly data?: unknown;
  /** The error that caused the failure. It is not sent to the server. */
  readonly cause?: unknown;
  /**
   * Whether a retry may succeed. With `false`, the step is not retried and continues with its `OnRetriesExhausted`.
   *
   * @default true
   */
  readonly retryable?: boolean;
}

/**
 * Marks activity failures. `stepwright/testing` and other copies of this package have their own classes, which `instanceof`
 * doesn't recognize.
 */
const MARK = Symbol.for('stepwright.ActivityFailure');

/**
 * Throw this in a handler to fail the activity with a type, with custom data, or without a retry. Any other error also fails the
 * activity, with its name and message, and the definition determines whether it is retried.
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
 *         throw new ActivityFailure('an amount is positive', { type: 'InvalidAmount', data: { amount } });
 *       }
 *       return { receipt: `r-${amount}` };
 *     },
 *   },
 * });
 * await worker.run();
 * ```
 */
export class ActivityFailure extends Error {
  // A text, so that a subclass can have another name.
  override readonly name: string = 'ActivityFailure';
  readonly type: string | undefined;
  readonly data: unknown;
  readonly retryable: boolean;

  constructor(message: string, options: ActivityFailureOptions = {}) {
    const { cause, data, retryable = true, type } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.type = type;
    this.data = data;
    this.retryable = retryable;
    Object.defineProperty(this, MARK, { value: true });
  }
}

export function isActivityFailure(thrown: unknown): thrown is ActivityFailure {
  return thrown instanceof Error && MARK in thrown;
}

/** A problem that a schema found in the parameters or the result. */
export interface SchemaIssue {
  readonly message: string;
  /** The path of the invalid value, such as `items.0.price`. */
  readonly path: string;
}

/**
 * The parameters or the result do not match their schema. This fails the activity.
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
    super(`invalid ${what}: ${shown.join('; ')}`);
    this.issues = issues;
  }
}

/**
 * The reason of `context.signal` when this worker has lost the lease: another worker may have claimed the work, or the work is no
 * longer needed.
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
    super(`the lease on '${activityName}' of workflow ${workflowId} was lost`);
    this.activityName = activityName;
    this.workflowId = workflowId;
  }
}

/**
 * The reason of `context.signal` when the run is being undone: the handler should end soon. The worker still holds the work, and
 * a result that the handler returns is reported, so that the run undoes it. An `ActivityFailure` that it throws is also reported,
 * and means that there is nothing to undo. Any other error means that the outcome is unknown, and releases the work.
 *
 * @example
 * ```ts
 * import { ActivityFailure, WorkCancelledError, Worker } from '@stepwright/worker-sdk';
 *
 * const worker = new Worker({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   activities: {
 *     'charge-card': ({ amount }: { amount: number }, { signal }) => {
 *       // Before anything has happened.
 *       if (signal.reason instanceof WorkCancelledError) throw new ActivityFailure('not charged');
 *       return { receipt: `r-${amount}` };
 *     },
 *   },
 * });
 * await worker.run();
 * ```
 */
export class WorkCancelledError extends Error {
  // The spelling is the public API's.
  override readonly name = 'WorkCancelledError' as const;
  readonly workflowId: string;
  readonly activityName: string;

  constructor(activityName: string, workflowId: string) {
    super(`workflow ${workflowId} is being undone, and no longer needs '${activityName}'`);
    this.activityName = activityName;
    this.workflowId = workflowId;
  }
}

/**
 * The reason of `context.signal` when the worker stops and its grace period is over.
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
    super('the worker is stopping');
  }
}
