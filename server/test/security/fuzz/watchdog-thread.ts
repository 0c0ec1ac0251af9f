/**
 * Runs beside a fuzzer, in a thread of its own: when the fuzzer's thread gives no sign of life any more, it says what was
 * being done, and ends the process. Nothing else could: a thread that never comes back cannot fail its test.
 */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

export interface WatchdogData {
  /** Counted up by the fuzzer's thread whenever its event loop turns. */
  readonly beats: Int32Array<SharedArrayBuffer>;
  /** What it is doing, as UTF-8, ended by a zero. */
  readonly doing: Uint8Array<SharedArrayBuffer>;
  readonly seed: number;
}

const LOOK_INTERVAL_MS = 500;
/** CPU time of the whole process (the collector of garbage has threads of its own) without a turn of the loop … */
const STALLED_CPU_MS = 15_000;
/** … or so long on the clock, whatever else the machine had to do. */
const STALLED_MS = 120_000;

const { beats, doing, seed } = workerData as WatchdogData; // Given by `startWatchdog`.
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
