/**
 * A number of bytes shared by many users.
 *
 * Requests are served in order of arrival, and an empty pool admits any share, however large it is: a share that does not
 * fit waits until it is alone, instead of forever.
 */
export interface MemoryShare {
  readonly bytes: number;
  /** Growth is counted immediately: it is already in memory. */
  resize(bytes: number): void;
  /** Idempotent. */
  release(): void;
}

class Share implements MemoryShare {
  #bytes: number;
  readonly #resized: (more: number) => void;
  #isReleased = false;

  constructor(bytes: number, resized: (more: number) => void) {
    this.#bytes = bytes;
    this.#resized = resized;
  }

  get bytes(): number {
    return this.#bytes;
  }

  resize(bytes: number): void {
    if (this.#isReleased || bytes === this.#bytes) return;
    const more = bytes - this.#bytes;
    this.#bytes = bytes;
    this.#resized(more);
  }

  release(): void {
    this.resize(0);
    this.#isReleased = true;
  }
}

interface Waiting {
  readonly bytes: number;
  readonly answer: (share: MemoryShare | null) => void;
}

export class MemoryPool {
  readonly limit: number;
  #used = 0;
  readonly #waiting = new Set<Waiting>();
  #isClosed = false;
  readonly #resized = (more: number): void => {
    this.#used += more;
    if (more < 0) this.#admitWaiting();
  };

  constructor(limit: number) {
    this.limit = limit;
  }

  get used(): number {
    return this.#used;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get isOver(): boolean {
    return this.#used > this.limit;
  }

  /** Whether a share of this size would be admitted if nobody was waiting. */
  hasRoom(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.limit;
  }

  /** For something that is already in memory. */
  take(bytes: number): MemoryShare {
    this.#used += bytes;
    return new Share(bytes, this.#resized);
  }

  /** Returns null if there is no room now, or others are waiting for it. */
  tryTake(bytes: number): MemoryShare | null {
    return this.#waiting.size === 0 && this.hasRoom(bytes) ? this.take(bytes) : null;
  }

  /** Queues for a share. Returns null if the pool was closed. */
  enter(bytes: number): Promise<MemoryShare | null> {
    const share = this.#isClosed ? null : this.tryTake(bytes);
    if (share !== null || this.#isClosed) return Promise.resolve(share);
    return new Promise((answer) => {
      this.#waiting.add({ bytes, answer });
    });
  }

  /** Ends all waits. */
  close(): void {
    this.#isClosed = true;
    for (const { answer } of this.#waiting) answer(null);
    this.#waiting.clear();
  }

  /** Bytes that the first request in the queue lacks; 0 if nobody is waiting. */
  get wanted(): number {
    for (const { bytes } of this.#waiting) return this.#used + bytes - this.limit;
    return 0;
  }

  #admitWaiting(): void {
    for (const waiting of this.#waiting) {
      if (!this.hasRoom(waiting.bytes)) return;
      this.#waiting.delete(waiting);
      waiting.answer(this.take(waiting.bytes));
    }
  }
}
