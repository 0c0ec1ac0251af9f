/**
 * Runs beside a fuzzer, in its own thread: when the fuzzer's thread no longer responds, it reports the current action
 * and ends the process. Nothing else could: a blocked thread cannot fail its test.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

export interface WatchdogData {
  /** The fuzzer's thread increments it whenever its event loop turns. */
  readonly beats: Int32Array<SharedArrayBuffer>;
  /** The current action, as UTF-8, ended by a zero. */
  readonly doing: Uint8Array<SharedArrayBuffer>;
  readonly seed: number;
}

const LOOK_INTERVAL_MS = 500;
/** CPU time of the whole process (garbage collection has its own threads) without a turn of the loop … */
const STALLED_CPU_MS = 15_000;
/** … or this long on the clock, however busy the machine. */
const STALLED_MS = 120_000;

const { beats, doing, seed } = workerData as WatchdogData; // `startWatchdog` sets it.
const seen = { beat: -1, at: performance.now(), cpu: process.cpuUsage() };

setInterval(() => {
  const beat = Atomics.load(beats, 0);
  if (beat !== seen.beat) {
    Object.assign(seen, { beat, at: performance.now(), cpu: process.cpuUsage() });
    return;
  }
  const { system, user } = process.cpuUsage(seen.cpu);
  const cpuMs = Math.round((system + user) / 1000);
  const stalledMs = Math.round(performance.now() - seen.at);
  if (cpuMs < STALLED_CPU_MS && stalledMs < STALLED_MS) return;
  const text = Buffer.from(doing.slice(0, doing.indexOf(0))).toString();
  writeSync(
    2,
    `\nFUZZ_SEED=${seed}: the event loop has not turned for ${stalledMs} ms (${cpuMs} ms of CPU) in ${text}\n`,
  );
  process.kill(process.pid, 'SIGKILL');
}, LOOK_INTERVAL_MS);
