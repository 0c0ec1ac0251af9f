/**
 * Turns for work that callers ask for: a few at the same time for each caller and for all. Callers take turns one after the
 * other, so that a caller with a thousand requests delays the others no more than one with a few.
 *
 * Invariants:
 *  FQ1 At most `turnsMax` turns are given, and at most `turnsPerCallerMax` of them to one caller.
 *  FQ2 At most `waitingMax` requests wait, and at most `waitingPerCallerMax` of one caller; more are refused at once.
 *  FQ3 A request that is aborted leaves the queue at once, and never gets a turn.
 */
import { NotWantedError } from '../slices.js';

export interface FairQueueLimits {
  readonly turnsMax: number;
  readonly turnsPerCallerMax: number;
  readonly waitingMax: number;
  readonly waitingPerCallerMax: number;
}

/** Gives a turn back; further calls have no effect. */
export type EndTurn = () => void;

/** Too many requests wait, of this caller or of all. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError' as const;
  readonly of: 'caller' | 'all';

  constructor(of: 'caller' | 'all') {
    super(`Too many requests are waiting (${of})`);
    this.of = of;
  }
}

interface Request {
  readonly start: (end: EndTurn) => void;
}

/** The requests of one caller. */
interface Line {
  readonly key: string;
  readonly waiting: Set<Request>;
  turns: number;
}

export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #lines = new Map<string, Line>();
  /** Callers with waiting requests, starting with the one that is next. */
  readonly #order = new Set<Line>();
  #turns = 0;
  #waiting = 0;

  constructor(limits: FairQueueLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * A turn: at once if there is room, which saves those who need not wait a turn of the event loop.
   * @param aborted the caller no longer wants the result
   * @throws QueueFullError; NotWantedError if it was aborted before
   */
  enter(key: string, aborted: AbortSignal): EndTurn | Promise<EndTurn> {
    if (aborted.aborted) throw new NotWantedError();
    const line = this.#lines.get(key) ?? { key, waiting: new Set(), turns: 0 };
    // Whoever waits of this caller is before this request; others wait only if their own turns or all are taken.
    if (line.waiting.size === 0 && this.#hasRoomFor(line)) return this.#give(line);
    const { waitingMax, waitingPerCallerMax } = this.#limits;
    if (line.waiting.size >= waitingPerCallerMax) throw new QueueFullError('caller');
    if (this.#waiting >= waitingMax) throw new QueueFullError('all');
    return this.#wait(line, aborted);
  }

  #wait(line: Line, aborted: AbortSignal): Promise<EndTurn> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#remove(line, request);
        reject(new NotWantedError());
      };
      const request: Request = {
        start: (end) => {
          aborted.removeEventListener('abort', leave);
          resolve(end);
        },
      };
      line.waiting.add(request);
      this.#waiting += 1;
      this.#lines.set(line.key, line);
      this.#order.add(line);
      aborted.addEventListener('abort', leave, { once: true });
    });
  }

  #remove(line: Line, request: Request): void {
    line.waiting.delete(request);
    this.#waiting -= 1;
    if (line.waiting.size === 0) this.#order.delete(line);
    this.#forgetIdle(line);
  }

  #give(line: Line): EndTurn {
    this.#lines.set(line.key, line);
    line.turns += 1;
    this.#turns += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      line.turns -= 1;
      this.#turns -= 1;
      this.#forgetIdle(line);
      this.#startWaiting();
    };
  }

  #startWaiting(): void {
    // Whoever cannot start has all of its turns, so few are looked at in vain.
    for (const line of this.#order) {
      if (this.#turns >= this.#limits.turnsMax) return;
      const [request] = line.waiting;
      if (request === undefined || !this.#hasRoomFor(line)) continue;
      const end = this.#give(line);
      this.#remove(line, request);
      // The others are next.
      if (this.#order.delete(line)) this.#order.add(line);
      request.start(end);
    }
  }

  #hasRoomFor({ turns }: Line): boolean {
    const { turnsMax, turnsPerCallerMax } = this.#limits;
    return this.#turns < turnsMax && turns < turnsPerCallerMax;
  }

  #forgetIdle(line: Line): void {
    if (line.turns === 0 && line.waiting.size === 0) this.#lines.delete(line.key);
  }
}
