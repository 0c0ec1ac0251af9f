import type { ActivityDeclarations } from '@stepwright/sdk';
import type { DeclaredWorkerOptions, WorkerOptions } from './worker-options.js';
import { ActivityWorker } from './worker.js';

/** Creates workers, with handlers of declared activities or with handlers that define their own parameter types. */
export interface WorkerConstructor {
  new <const D extends ActivityDeclarations>(options: DeclaredWorkerOptions<D>): Worker;
  new <P>(options: WorkerOptions<P>): Worker;
}

/** Executes the activities of workflows. */
export type Worker = ActivityWorker;

/**
 * Executes the activities of workflows: claims work items while it has free slots, extends their leases with heartbeats, and
 * reports the results and errors of the handlers.
 *
 * @throws TypeError if there is no activity or a handler is invalid; RangeError if a number is invalid
 *
 * @example
 * ```ts
 * import { stopOnSignals, Worker } from '@stepwright/worker-sdk';
 *
 * const worker = new Worker({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   concurrency: 20,
 *   activities: {
 *     'charge-card': async ({ amount }: { amount: number }, { signal, log }) => {
 *       signal.throwIfAborted();
 *       log.info('charging', { amount });
 *       return { receipt: `r-${amount}` };
 *     },
 *   },
 * });
 * stopOnSignals(worker);
 * await worker.run();
 * console.log(worker.stats().succeeded);
 * ```
 */
export const Worker: WorkerConstructor = ActivityWorker;
