import type { Worker } from './worker-constructor.js';
import type { StopOptions } from './worker-options.js';

/** The required part of Node's `process`. Other runtimes have it too. */
interface SignalSource {
  once(signal: string, listener: () => void): unknown;
  off(signal: string, listener: () => void): unknown;
}

/**
 * Shuts the worker down gracefully on SIGTERM or SIGINT, so that the process can exit once its work is done. A second signal
 * ends the process immediately.
 *
 * @returns a function that removes the signal handlers
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
