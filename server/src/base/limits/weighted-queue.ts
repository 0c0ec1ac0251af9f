/**
 * Admits callers to something limited, such as memory, by the weight of what they want to do.
 *
 * Callers take turns: each gets one permit after the other, however many each has waiting. Within a caller, the order
 * is that of arrival. A caller gets at most its share; what is over waits, and does not delay the others. An entry that
 * leaves (its signal is aborted) costs nothing more.
 *
 *  WQ1 The total weight exceeds the limit only by what was counted without asking (`take`, `resize`), or by a single
 *      entry that is larger than the limit and is admitted alone.
 *  WQ2 An entry that waits for the total is not overtaken, so it does not wait forever.
 */
export interface Permit {
  readonly weight: number;
  /** Counted immediately: what it stands for is there already. Without effect after the release. */
  resize(weight: number): void;
  /** Idempotent. */
  release(): void;
}

export interface WeightedQueueLimits {
  readonly limit: number;
  /** What one caller may have of the limit: its share. A caller that has nothing may exceed it with one entry. */
  readonly limitPerCaller: number;
  /** Maximum number of waiting entries, and of those of one caller. */
  readonly waitingMax: number;
  readonly waitingPerCallerMax: number;
}

/** What is lacking: the share of the caller, or the limit for all together. */
export type Shortage = 'share' | 'total';

/** Too many entries are waiting already. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError' as const;
  readonly shortage: Shortage;

  constructor(shortage: Shortage) {
    super('too many entries are waiting');
    this.shortage = shortage;
  }
}

/** A queue for a number of turns: each entry has the weight 1, a caller may have all of them, and any number may wait. */
export function createTurns(count: number): WeightedQueue {
  return new WeightedQueue({
    limit: count,
    limitPerCaller: Infinity,
    waitingMax: Infinity,
    waitingPerCallerMax: Infinity,
  });
}

interface Entry {
  readonly weight: number;
  readonly admit: (permit: Permit) => void;
}

interface Line {
  used: number;
  readonly waiting: Set<Entry>;
}

export class WeightedQueue {
  readonly limit: number;
  readonly #limits: WeightedQueueLimits;
  /** Of each caller that has or wants something. */
  readonly #lines = new Map<string, Line>();
  /** Callers with waiting entries, starting with the one whose turn is next. */
  readonly #turns = new Set<string>();
  #used = 0;
  #waiting = 0;

  constructor(limits: WeightedQueueLimits) {
    this.limit = limits.limit;
    this.#limits = limits;
  }

  get used(): number {
    return this.#used;
  }

  get waiting(): number {
    return this.#waiting;
  }

  usedBy(caller: string): number {
    return this.#lines.get(caller)?.used ?? 0;
  }

  /** Why the caller can't have this much more now; null if it can. Ignores who else waits. */
  shortageOf(caller: string, weight: number): Shortage | null {
    const used = this.usedBy(caller);
    if (used > 0 && used + weight > this.#limits.limitPerCaller) return 'share';
    return this.#used > 0 && this.#used + weight > this.limit ? 'total' : null;
  }

  /** For what is there already: it is counted, whether it fits or not. */
  take(caller: string, weight: number): Permit {
    return this.#admit(caller, weight);
  }

  /** Null: there is no room now, or others wait for it. */
  tryEnter(caller: string, weight: number): Permit | null {
    const isFree = this.#turns.size === 0 || this.#firstBlocked() === null;
    return isFree && this.#mayEnter(caller, weight) ? this.#admit(caller, weight) : null;
  }

  /**
   * Waits for its turn and for room.
   * @throws QueueFullError; the reason of the signal when it is aborted
   */
  async enter(caller: string, weight: number, signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    const permit = this.tryEnter(caller, weight);
    if (permit !== null) return permit;
    const line = this.#lineOf(caller);
    const shortage = this.#crowdedFor(line);
    if (shortage !== null) {
      this.#forgetIdle(caller, line);
      throw new QueueFullError(shortage);
    }
    return new Promise<Permit>((resolve, reject) => {
      const leave = (): void => {
        this.#leave(caller, entry);
        reject(signal?.reason as Error);
        // It may have been the one that the others waited for.
        this.#admitWaiting();
      };
      const entry: Entry = {
        weight,
        admit: (admitted) => {
          signal?.removeEventListener('abort', leave);
          resolve(admitted);
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      line.waiting.add(entry);
      this.#turns.add(caller);
      this.#waiting += 1;
    });
  }

  #crowdedFor(line: Line): Shortage | null {
    if (line.waiting.size >= this.#limits.waitingPerCallerMax) return 'share';
    return this.#waiting >= this.#limits.waitingMax ? 'total' : null;
  }

  #mayEnter(caller: string, weight: number): boolean {
    const isNext = (this.#lines.get(caller)?.waiting.size ?? 0) === 0;
    return isNext && this.shortageOf(caller, weight) === null;
  }

  /** The caller whose turn it is, and whose share isn't used up; null if nobody waits for the total. */
  #firstBlocked(): string | null {
    for (const caller of this.#turns) {
      const [entry] = this.#lines.get(caller)?.waiting ?? [];
      if (entry !== undefined && this.shortageOf(caller, entry.weight) === 'total') return caller;
    }
    return null;
  }

  #admit(caller: string, weight: number): Permit {
    this.#count(caller, weight);
    return new Counted(weight, (more) => {
      this.#count(caller, more);
      if (more < 0) this.#admitWaiting();
    });
  }

  #count(caller: string, more: number): void {
    const line = this.#lineOf(caller);
    line.used += more;
    this.#used += more;
    this.#forgetIdle(caller, line);
  }

  #admitWaiting(): void {
    while (this.#admitNext());
  }

  /** Returns false if nobody can be admitted now. */
  #admitNext(): boolean {
    for (const caller of this.#turns) {
      const [entry] = this.#lines.get(caller)?.waiting ?? [];
      if (entry === undefined) continue;
      const shortage = this.shortageOf(caller, entry.weight);
      if (shortage === 'total') return false;
      if (shortage === 'share') continue;
      this.#leave(caller, entry);
      // Its next entry comes after those of the others.
      if (this.#turns.delete(caller)) this.#turns.add(caller);
      entry.admit(this.#admit(caller, entry.weight));
      return true;
    }
    return false;
  }

  #leave(caller: string, entry: Entry): void {
    const line = this.#lineOf(caller);
    if (!line.waiting.delete(entry)) return;
    this.#waiting -= 1;
    if (line.waiting.size === 0) this.#turns.delete(caller);
    this.#forgetIdle(caller, line);
  }

  #lineOf(caller: string): Line {
    const known = this.#lines.get(caller);
    if (known !== undefined) return known;
    const line = { used: 0, waiting: new Set<Entry>() };
    this.#lines.set(caller, line);
    return line;
  }

  #forgetIdle(caller: string, line: Line): void {
    if (line.used === 0 && line.waiting.size === 0) this.#lines.delete(caller);
  }
}

class Counted implements Permit {
  #weight: number;
  readonly #changed: (more: number) => void;
  #isReleased = false;

  constructor(weight: number, changed: (more: number) => void) {
    this.#weight = weight;
    this.#changed = changed;
  }

  get weight(): number {
    return this.#weight;
  }

  resize(weight: number): void {
    if (this.#isReleased || weight === this.#weight) return;
    const more = weight - this.#weight;
    this.#weight = weight;
    this.#changed(more);
  }

  release(): void {
    this.resize(0);
    this.#isReleased = true;
  }
}
