/**
 * The memory of the results of step bodies: a total number of bytes, shared fairly by the definitions. It holds responses
 * that HttpRequest steps read, and results of HttpRequest and custom steps until their runs have saved them.
 *
 *  CM1 Small responses are read immediately, however much memory others use: a definition with small calls never waits for
 *      large responses.
 *  CM2 A definition may hold at most three times as many bytes as are free. Reading pauses where it would hold more.
 *  CM3 The oldest large response can always continue, so that waiting responses never wait for each other.
 *  CM4 A response whose signal fires stops waiting.
 *  CM5 A complete result counts until it is released, but it is not the oldest of CM3 any more.
 *  CM6 If complete results alone exceed the limit, because the store does not respond, everything waits until some are
 *      released. Nobody can wait for each other here: a run needs no further result to save the ones it has.
 */

/** Bytes of each response that never have to wait. There are at most `http_connections_max` responses. */
const SMALL_BYTES = 64 * 1024;
const SHARE = 3;

export interface AnswerShare {
  /** Takes this many more bytes; waits if there is no room. Rejects if the signal fires first. */
  readonly grow: (bytes: number) => Promise<void>;
  /**
   * Sets the number of bytes. Returns false, and changes nothing, if that takes more bytes although complete results exceed
   * the limit (CM6).
   */
  readonly become: (bytes: number) => boolean;
  /** There is a result: its bytes remain counted. */
  readonly complete: () => void;
  /** Idempotent. */
  readonly release: () => void;
}

interface Answer {
  readonly definitionId: string;
  bytes: number;
  isComplete: boolean;
}

interface Waiting {
  readonly answer: Answer;
  readonly bytes: number;
  readonly go: () => void;
}

export class CallMemory {
  readonly limit: number;
  readonly #byDefinition = new Map<string, number>();
  /** The oldest first. */
  readonly #large = new Set<Answer>();
  readonly #waiting = new Set<Waiting>();
  #used = 0;
  /** Bytes of complete results. */
  #kept = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** @param signal ends each wait */
  begin(definitionId: string, signal: AbortSignal): AnswerShare {
    const answer: Answer = { definitionId, bytes: 0, isComplete: false };
    return {
      grow: (bytes) => this.#grow(answer, bytes, signal),
      become: (bytes) => {
        if (this.#isFull && bytes > answer.bytes) return false;
        this.#add(answer, bytes - answer.bytes);
        return true;
      },
      complete: () => this.#complete(answer),
      release: () => {
        this.#add(answer, -answer.bytes);
        this.#large.delete(answer);
        this.#admitWaiting();
      },
    };
  }

  get #isFull(): boolean {
    return this.#kept > this.limit;
  }

  #complete(answer: Answer): void {
    if (answer.isComplete) return;
    answer.isComplete = true;
    this.#kept += answer.bytes;
    if (this.#large.delete(answer)) this.#admitWaiting();
  }

  #grow(answer: Answer, bytes: number, signal: AbortSignal): Promise<void> {
    if (answer.bytes + bytes > SMALL_BYTES) this.#large.add(answer);
    if (this.#mayGrow(answer, bytes)) {
      this.#add(answer, bytes);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(waiting);
        reject(new Error('the call was canceled while its response was waiting for memory'));
      };
      const waiting: Waiting = {
        answer,
        bytes,
        go: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      if (signal.aborted) {
        giveUp();
        return;
      }
      this.#waiting.add(waiting);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #mayGrow(answer: Answer, bytes: number): boolean {
    if (this.#isFull) return false;
    if (!this.#large.has(answer)) return true;
    const [oldest] = this.#large;
    if (answer === oldest) return true;
    const held = (this.#byDefinition.get(answer.definitionId) ?? 0) + bytes;
    return held <= SHARE * (this.limit - this.#used - bytes);
  }

  #admitWaiting(): void {
    for (const waiting of this.#waiting) {
      if (!this.#mayGrow(waiting.answer, waiting.bytes)) continue;
      this.#waiting.delete(waiting);
      this.#add(waiting.answer, waiting.bytes);
      waiting.go();
    }
  }

  #add(answer: Answer, bytes: number): void {
    answer.bytes += bytes;
    this.#used += bytes;
    if (answer.isComplete) this.#kept += bytes;
    const held = (this.#byDefinition.get(answer.definitionId) ?? 0) + bytes;
    if (held === 0) this.#byDefinition.delete(answer.definitionId);
    else this.#byDefinition.set(answer.definitionId, held);
  }
}
