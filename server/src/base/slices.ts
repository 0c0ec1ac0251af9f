/**
 * Long work on the event loop, cut into slices so that short requests are served in between.
 *
 * All long work of the process shares one queue: each turn of the loop runs one slice of one task. No matter how many
 * tasks there are, a short request waits for one slice, not for one slice of each.
 */

/**
 * Maximum duration of a slice. A short workflow and the wait for its end need about ten turns of the loop, each of which
 * may come after a slice.
 */
export const SLICE_MS = 4;

const waiting: (() => void)[] = [];
let isTurning = false;

/** Waits for the turn of the loop in which a slice of this work may run. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (isTurning) return;
    isTurning = true;
    setImmediate(turn);
  });
}

/** From this length on, reading a text takes long enough to wait for a turn: about a millisecond for JSON. */
const LARGE_LENGTH = 32 << 10;

/** Waits for a turn before something large is read as a whole, so that of any number of them, each turn reads one. */
export async function turnFor(length: number): Promise<void> {
  if (length >= LARGE_LENGTH) await nextSlice();
}

/** Whether work waits for a turn of the loop, or has just got one. */
export function hasWaitingSlices(): boolean {
  return isTurning;
}

function turn(): void {
  const resume = waiting.shift();
  isTurning = waiting.length > 0;
  // An immediate that is set while immediates run fires after the next check of sockets and timers.
  if (isTurning) setImmediate(turn);
  resume?.();
}

/** A task that may take long. */
export class LongWork {
  #since = performance.now();

  /** Call between two parts of the work; waits for the next slice if the current one has lasted long enough. */
  async giveWay(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await nextSlice();
    this.#since = performance.now();
  }
}

/** The work was canceled, because no caller waits for its result any more. */
export class CanceledError extends Error {
  override readonly name = 'CanceledError' as const;

  constructor() {
    super('no caller is waiting for this result');
  }
}

/**
 * Runs work that yields between its parts. Waits for a slice before it starts.
 *
 * @param isWanted checked before each slice; CanceledError is thrown if it returns false
 */
export async function inSlices<Result>(
  work: Generator<undefined, Result>,
  isWanted: () => boolean = () => true,
): Promise<Result> {
  for (;;) {
    await nextSlice();
    if (!isWanted()) throw new CanceledError();
    const until = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (performance.now() < until);
  }
}
