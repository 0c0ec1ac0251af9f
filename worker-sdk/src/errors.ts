/** What goes wrong in a worker, and how a handler says that its work failed. */

/**
 * Thrown by a handler to fail its activity with data of its own. Any other error fails the activity too, with its name and
 * message.
 *
 * @example
 * ```ts
 * import { ActivityFailure, Worker } from '@stepwright/worker-sdk';
 *
 * const worker = new Worker({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   activities: {
 *     'charge-card': ({ amount }: { amount: number }) => {
 *       if (amount < 0) throw new ActivityFailure('an amount is positive', { data: { amount } });
 *       return { receipt: `r-${amount}` };
 *     },
 *   },
 * });
 * await worker.run({ signal: AbortSignal.timeout(200) });
 * ```
 */
export class ActivityFailure extends Error {
  override readonly name = 'ActivityFailure' as const;
  /** Any JSON value: `data` of the step's error. */
  readonly data: unknown;

  constructor(
    message: string,
    options: { readonly data?: unknown; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.data = options.data;
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
 * await worker.run({ signal: AbortSignal.timeout(200) });
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
 * await worker.run({ signal: AbortSignal.timeout(200) });
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
 * await worker.run({ signal: AbortSignal.timeout(200) });
 * ```
 */
export class WorkerStoppedError extends Error {
  override readonly name = 'WorkerStoppedError' as const;

  constructor() {
    super('the worker stops');
  }
}
