import type { ActivityDeclarations } from '@stepwright/sdk';
import type { DeclaredWorkerOptions, WorkerOptions } from './worker-options.js';
import { ActivityWorker } from './worker.js';

/** How workers are made: with activities that were declared, or with handlers that say themselves what they take. */
export interface WorkerConstructor {
  new <const D extends ActivityDeclarations>(options: DeclaredWorkerOptions<D>): Worker;
  new <P>(options: WorkerOptions<P>): Worker;
}

/** Does the activities of workflows. */
export type Worker = ActivityWorker;

/**
 * Does the activities of workflows: takes work as long as it has free slots, keeps it with heartbeats, and reports what the
 * handlers return or throw.
 *
 * @throws TypeError, RangeError for options that cannot be used
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
