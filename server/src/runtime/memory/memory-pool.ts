/**
 * A number of bytes that many may take a share of.
 *
 * Whoever came before goes first, and one share is always admitted into an empty pool, however large it is: what does not
 * fit waits until it is alone, instead of for ever.
 */
export interface MemoryShare {
  readonly bytes: number;
  /** What has grown is counted at once: it is in memory already. */
  resize(bytes: number): void;
  /** Doing it twice is harmless. */
  release(): void;
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

  /** Whether a share of this size would be admitted, if nobody waited. */
  hasRoom(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.limit;
  }

  /** For what is in memory already. */
  take(bytes: number): MemoryShare {
    let size = bytes;
    let isReleased = false;
    this.#used += size;
    const resize = (to: number): void => {
      if (isReleased) return;
      const hasShrunk = to < size;
      this.#used += to - size;
      size = to;
      if (hasShrunk) this.#admitWaiting();
    };
    return {
      get bytes() {
        return size;
      },
      resize,
      release: () => {
        resize(0);
        isReleased = true;
      },
    };
  }

  /** Null: there is no room now, or others wait for it. */
  tryTake(bytes: number): MemoryShare | null {
    return this.#waiting.size === 0 && this.hasRoom(bytes) ? this.take(bytes) : null;
  }

  /** Waits its turn. Null: the pool was closed. */
  enter(bytes: number): Promise<MemoryShare | null> {
    const share = this.#isClosed ? null : this.tryTake(bytes);
    if (share !== null || this.#isClosed) return Promise.resolve(share);
    return new Promise((answer) => {
      this.#waiting.add({ bytes, answer });
    });
  }

  /** Nobody waits any more. */
  close(): void {
    this.#isClosed = true;
    for (const { answer } of this.#waiting) answer(null);
    this.#waiting.clear();
  }

  /** Bytes that the first in line lacks; 0 when nobody waits. */
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
