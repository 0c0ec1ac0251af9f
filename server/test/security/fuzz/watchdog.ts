/** Watches the thread of a fuzzer from another thread, and the memory of its process. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import type { WatchdogData } from './watchdog-thread.js';

const BEAT_INTERVAL_MS = 50;
const DOING_BYTES_MAX = 8192;

export interface Watchdog {
  /** Records the next action, which is reported if it never ends. */
  doing(what: string): void;
  /** The longest time in milliseconds that the event loop has not turned. */
  readonly longestStallMs: number;
  stop(): Promise<void>;
}

export function startWatchdog(seed: number): Watchdog {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const doing = new Uint8Array(new SharedArrayBuffer(DOING_BYTES_MAX + 1));
  const workerData: WatchdogData = { beats, doing, seed };
  const thread = new Worker(new URL('watchdog-thread.ts', import.meta.url), { workerData });
  let beatAt = performance.now();
  let longestStallMs = 0;
  const timer = setInterval(() => {
    Atomics.add(beats, 0, 1);
    longestStallMs = Math.max(longestStallMs, performance.now() - beatAt - BEAT_INTERVAL_MS);
    beatAt = performance.now();
  }, BEAT_INTERVAL_MS);
  return {
    doing(what) {
      const { written } = new TextEncoder().encodeInto(what.slice(0, DOING_BYTES_MAX / 3), doing);
      doing[written] = 0;
    },
    get longestStallMs() {
      return Math.round(longestStallMs);
    },
    async stop() {
      clearInterval(timer);
      await thread.terminate();
    },
  };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // V8's own function, exposed by the flag.

/** Megabytes that are actually in use: on the heap and outside it. */
export function usedMegabytes(): number {
  collectGarbage();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return Math.round((heapUsed + arrayBuffers) / 2 ** 20);
}
