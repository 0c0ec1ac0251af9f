/**
 * Long work on the event loop, cut into slices so that others are served meanwhile.
 *
 * All long works of the process share one line: each turn of the loop runs one slice of one of them. However many there are,
 * whoever comes with a short request waits for one slice, and not for one of each.
 */

/**
 * How long one slice may hold the thread. A short workflow and the wait for its end need some ten turns of the loop, each of
 * which may come behind a slice.
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

function turn(): void {
  const resume = waiting.shift();
  isTurning = waiting.length > 0;
  // One that is set while immediates run comes after the next look at sockets and timers.
  if (isTurning) setImmediate(turn);
  resume?.();
}

/** One piece of work that may become long. */
export class LongWork {
  #since = performance.now();

  /** Called between two parts of the work; waits for the next slice when this one was long enough. */
  async giveWay(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await nextSlice();
    this.#since = performance.now();
  }
}

/** The work was stopped because nobody wants its result any more. */
export class NotWantedError extends Error {
  override readonly name = 'NotWantedError' as const;

  constructor() {
    super('no caller is waiting for this result');
  }
}

/**
 * Runs work that yields between its parts, and waits for a slice before it begins.
 *
 * @param isWanted asked before each slice; NotWantedError is thrown when it says no
 */
export async function inSlices<Result>(
  work: Generator<undefined, Result>,
  isWanted: () => boolean = () => true,
): Promise<Result> {
  for (;;) {
    await nextSlice();
    if (!isWanted()) throw new NotWantedError();
    const until = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done === true) return step.value;
    } while (performance.now() < until);
  }
}
