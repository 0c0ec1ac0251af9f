import type { Worker } from './worker-constructor.js';
import type { StopOptions } from './worker-options.js';

/** The part of Node's `process` that is needed; other runtimes have it too. */
interface SignalSource {
  once(signal: string, listener: () => void): unknown;
  off(signal: string, listener: () => void): unknown;
}

/**
 * Stops the worker in order when the process is told to end (SIGTERM, SIGINT), so that the process ends by itself when the
 * work in hand is done. A second signal ends it at once.
 *
 * @returns a function that takes this back
 *
 * @example
 * ```ts
 * import { stopOnSignals, Worker } from '@stepwright/worker-sdk';
 *
 * const worker = new Worker({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   activities: { 'send-mail': (address: string) => console.log(`to ${address}`) },
 * });
 * const forget = stopOnSignals(worker, { graceMs: 20_000 });
 * await worker.run();
 * forget();
 * ```
 */
export function stopOnSignals(worker: Worker, options: StopOptions = {}): () => void {
  const { process } = globalThis as { readonly process?: SignalSource };
  const stop = (): void => {
    forget();
    void worker.stop(options);
  };
  const forget = (): void => {
    for (const signal of ['SIGTERM', 'SIGINT']) process?.off(signal, stop);
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process?.once(signal, stop);
  return forget;
}
