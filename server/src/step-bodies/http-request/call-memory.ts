/**
 * The memory of answers that HttpRequest steps read: so many bytes in all, shared fairly by the definitions that call.
 *
 *  CM1 What is small is read at once, however much the others take: so one that calls little never waits for large answers.
 *  CM2 A definition may hold at most three times as many bytes as are free. What would be more waits, and is not read on.
 *  CM3 The oldest of the large answers is always read on, so that those who wait never wait for each other.
 *  CM4 An answer whose signal fires waits no longer.
 */

/** Bytes of each answer that are never waited for. There are at most `http_connections_max` answers. */
const SMALL_BYTES = 64 * 1024;
const SHARE = 3;

export interface AnswerShare {
  /** Takes so many bytes more, and waits where there is no room. Rejects when the signal fires first. */
  readonly grow: (bytes: number) => Promise<void>;
  /** Doing it twice is harmless. */
  readonly release: () => void;
}

interface Answer {
  readonly definitionId: string;
  bytes: number;
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
    const answer: Answer = { definitionId, bytes: 0 };
    return {
      grow: (bytes) => this.#grow(answer, bytes, signal),
      release: () => {
        this.#add(answer, -answer.bytes);
        this.#large.delete(answer);
        this.#admitWaiting();
      },
    };
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
        reject(new Error('the call was given up while its answer waited for memory'));
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
    const held = (this.#byDefinition.get(answer.definitionId) ?? 0) + bytes;
    if (held === 0) this.#byDefinition.delete(answer.definitionId);
    else this.#byDefinition.set(answer.definitionId, held);
  }
}
