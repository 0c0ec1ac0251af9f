/**
 * The memory that one request holds: from the work for its answer until the answer has been sent.
 *
 * Several requests can hold one memory together, such as a run that all of them are shown: it is released by the last.
 */
import type { AnswerMemory, MemoryKind } from './answer-memory.js';
import type { Permit } from './weighted-queue.js';

export interface MemoryHolder {
  /** Who is charged. */
  readonly key: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
}

export class HeldMemory {
  readonly #account: AnswerMemory;
  readonly #holder: MemoryHolder;
  readonly #permits = new Set<Permit>();
  readonly #shared = new Map<HeldMemory, () => void>();
  #holds = 0;

  constructor(account: AnswerMemory, holder: MemoryHolder) {
    this.#account = account;
    this.#holder = holder;
  }

  get bytes(): number {
    let bytes = 0;
    for (const { weight } of this.#permits) bytes += weight;
    for (const shared of this.#shared.keys()) bytes += shared.bytes;
    return bytes;
  }

  /** Keeps the memory until each function that this has returned has been called; further calls have no effect. */
  hold(): () => void {
    this.#holds += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      if (this.#holds === 0) this.#release();
    };
  }

  /** Memory of the same caller, which several requests can share. @param gone aborted when none of them needs it */
  shareable(gone: AbortSignal): HeldMemory {
    return new HeldMemory(this.#account, { key: this.#holder.key, gone });
  }

  /** Also holds what others share. */
  share(memory: HeldMemory): void {
    const isOver = this.#holds === 0;
    if (!isOver && !this.#shared.has(memory)) this.#shared.set(memory, memory.hold());
  }

  /**
   * Takes memory before it is used. Waits for it, unless the request holds some already.
   * @throws AppError `too_many_requests`, `overloaded`; CanceledError if nobody waits for the answer any more
   */
  async reserve(kind: MemoryKind, bytes: number): Promise<Permit> {
    const request = { caller: this.#holder.key, kind, bytes };
    const isFirst = this.bytes === 0;
    const permit = isFirst
      ? (this.#account.tryEnter(request) ??
        (await this.#account.enterSoon(request, this.#holder.gone)))
      : this.#account.take(request);
    return this.#keep(permit);
  }

  /** Like `reserve`, for as long as the signal allows. @throws AppError, CanceledError */
  async reserveUntil(kind: MemoryKind, bytes: number, signal: AbortSignal): Promise<Permit> {
    return this.#keep(await this.#account.enter({ caller: this.#holder.key, kind, bytes }, signal));
  }

  /** Null: there is no room now. */
  tryReserve(kind: MemoryKind, bytes: number): Permit | null {
    const permit = this.#account.tryEnter({ caller: this.#holder.key, kind, bytes });
    return permit === null ? null : this.#keep(permit);
  }

  /** For what can't wait. @throws AppError `too_many_requests`, `overloaded` */
  reserveNow(kind: MemoryKind, bytes: number): Permit {
    return this.#keep(this.#account.enterNow({ caller: this.#holder.key, kind, bytes }));
  }

  /** Counts what is in memory already. */
  add(kind: MemoryKind, bytes: number): Permit {
    return this.#keep(this.#account.take({ caller: this.#holder.key, kind, bytes }));
  }

  /** What it holds has become smaller: only this much is left. */
  shrinkTo(bytes: number): void {
    let left = bytes;
    for (const permit of this.#all()) {
      const kept = Math.min(permit.weight, left);
      permit.resize(kept);
      left -= kept;
    }
  }

  *#all(): Iterable<Permit> {
    yield* this.#permits;
    for (const shared of this.#shared.keys()) yield* shared.#all();
  }

  #keep(permit: Permit): Permit {
    // The request is over: nobody would release it.
    if (this.#holds === 0) permit.release();
    else this.#permits.add(permit);
    return {
      get weight() {
        return permit.weight;
      },
      resize: (bytes) => permit.resize(bytes),
      release: () => {
        permit.release();
        this.#permits.delete(permit);
      },
    };
  }

  #release(): void {
    for (const permit of this.#permits) permit.release();
    this.#permits.clear();
    for (const leave of this.#shared.values()) leave();
    this.#shared.clear();
  }
}
