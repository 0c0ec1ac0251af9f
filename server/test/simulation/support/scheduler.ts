/**
 * The only part of a simulation that lets anything happen.
 *
 * Store calls, their responses, step bodies, hints and clients wait here until they are selected; time stands still
 * until the scheduler moves it. Between two releases, all promises run until nothing moves. So a seed determines
 * everything.
 */
import type { Clock } from '../../../src/base/clock.js';
import type { Random } from './random.js';

/** One process lifetime, as the scheduler sees it. */
export interface Life {
  readonly name: string;
  /** How far its clock is ahead. */
  skewMs: number;
  dead: boolean;
  /** Until then the store does not respond to it. */
  cutOffUntil: number;
}

export interface Task {
  readonly life: Life | null;
  readonly kind: 'call' | 'answer' | 'other';
  readonly label: string;
  go(): void;
  fail(): void;
  /** Carries out the call although nobody is waiting for its result any more. */
  readonly late?: () => void;
}

interface Timer {
  readonly life: Life | null;
  readonly at: number;
  readonly label: string;
  readonly callback: () => void;
}

/** The part of the trace that is printed when a run fails. */
const TRACE_LINES = 60;
/** SIMULATION_TRACE=1 prints all of it. */
const KEEPS_ALL = process.env['SIMULATION_TRACE'] === '1';

export class Scheduler {
  now = 1_800_000_000_000;
  steps = 0;
  readonly random: Random;
  readonly #tasks: Task[] = [];
  readonly #timers = new Set<Timer>();
  readonly #lines: string[] = [];
  #hash = 0x811c9dc5;

  constructor(random: Random) {
    this.random = random;
  }

  /** The same for the same run, independent of the machine. */
  get hash(): string {
    return this.#hash.toString(16);
  }

  get lastLines(): readonly string[] {
    return KEEPS_ALL ? this.#lines : this.#lines.slice(-TRACE_LINES);
  }

  note(line: string): void {
    const text = `${String(this.steps).padStart(5)} ${String((this.now % 1e8) / 1000).padStart(10)} ${line}`;
    for (let place = 0; place < text.length; place += 1) {
      this.#hash = Math.imul(this.#hash ^ text.charCodeAt(place), 0x01000193) >>> 0;
    }
    this.#lines.push(text);
    if (KEEPS_ALL) return;
    if (this.#lines.length > 4 * TRACE_LINES) this.#lines.splice(0, 3 * TRACE_LINES);
  }

  /** Waits until the scheduler lets it continue; forever if its process has ended. */
  park(
    life: Life | null,
    kind: Task['kind'],
    label: string,
    call?: { readonly failure: () => Error; readonly late: () => void },
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      if (life?.dead === true) return;
      const fail = (): void => reject(call?.failure() ?? new Error(label));
      const late = call?.late;
      this.#tasks.push({ life, kind, label, go: resolve, fail, ...(late ? { late } : {}) });
    });
  }

  /** The same without a promise. */
  later(life: Life | null, label: string, go: () => void): void {
    if (life?.dead !== true) this.#tasks.push({ life, kind: 'other', label, go, fail: go });
  }

  clockOf(life: Life | null, label: string): Clock {
    const skew = (): number => life?.skewMs ?? 0;
    return {
      now: () => this.now + skew(),
      at: (time, callback) => {
        if (life?.dead === true) return () => undefined;
        const timer = { life, at: time, label, callback };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
    };
  }

  /** A pause of a client outside the nodes. */
  pause(label: string, ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timers.add({ life: null, at: this.now + ms, label, callback: resolve });
    });
  }

  /** Nothing of this process happens any more. */
  end(life: Life): void {
    life.dead = true;
    const rest = this.#tasks.filter((task) => task.life !== life);
    this.#tasks.splice(0, this.#tasks.length, ...rest);
    for (const timer of this.#timers) if (timer.life === life) this.#timers.delete(timer);
  }

  /** Calls to the store that have not been carried out yet. */
  get calls(): readonly Task[] {
    return this.#tasks.filter(({ kind }) => kind === 'call');
  }

  take(task: Task): void {
    const index = this.#tasks.indexOf(task);
    if (index >= 0) this.#tasks.splice(index, 1);
  }

  /** What may happen next; null if only time can bring something. */
  pick(): Task | Timer | null {
    const due: Timer[] = [];
    for (const timer of this.#timers) if (this.#dueAt(timer) <= this.now) due.push(timer);
    const count = this.#tasks.length + due.length;
    if (count === 0) return null;
    const index = this.random.below(count);
    const task = this.#tasks[index];
    if (task !== undefined) {
      this.#tasks.splice(index, 1);
      return task;
    }
    const timer = due[index - this.#tasks.length];
    if (timer === undefined) throw new Error('selected a timer that does not exist');
    this.#timers.delete(timer);
    return timer;
  }

  /** Moves the time to the next timer, and perhaps beyond: timers do not fire exactly on time. */
  advance(lateMs: number): void {
    let next = Infinity;
    for (const timer of this.#timers) next = Math.min(next, this.#dueAt(timer));
    this.now = Math.max(this.now, next === Infinity ? this.now + 1 : next) + lateMs;
  }

  /** Lets every promise run until nothing moves; all microtasks finish before the event loop continues. */
  async settle(): Promise<void> {
    this.steps += 1;
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }

  #dueAt(timer: Timer): number {
    return timer.at - (timer.life?.skewMs ?? 0);
  }
}

export function isTask(picked: Task | Timer): picked is Task {
  return 'go' in picked;
}
