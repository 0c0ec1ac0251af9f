/**
 * Spreads the requests of each caller over turns of the event loop. A turn begins a few requests, and callers alternate, so a
 * request waits for the work of a few requests of a flood, not for all. A turn begins as many as fit into `TURN_MS`, judged
 * by the turns before: many cheap ones, whose writes share a commit, or one that works for long.
 */
import { AlternatingQueue } from '../../base/limits/alternating-queue.js';

/** How long the work of a turn should take. */
const TURN_MS = 5;
const FIRST_TURN_REQUESTS = 8;
const TURN_REQUESTS_MAX = 64;

export class RequestQueue {
  readonly #waiting = new AlternatingQueue<() => void>();
  readonly #now: () => number;
  #turnRequests = FIRST_TURN_REQUESTS;
  /** Null: no request has begun in this turn. */
  #turn: { readonly beganMs: number; left: number } | null = null;

  /** @param now a clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Null: the request may begin now. */
  enter(caller: string): Promise<void> | null {
    const turn = this.#turn ?? this.#beginTurn();
    if (turn.left > 0) {
      turn.left -= 1;
      return null;
    }
    return new Promise((resolve) => this.#waiting.push(caller, resolve));
  }

  #beginTurn(): { left: number } {
    const turn = { beganMs: this.#now(), left: this.#turnRequests };
    this.#turn = turn;
    // An immediate that is set while immediates run fires after the next check of sockets and timers.
    setImmediate(() => this.#endTurn(turn.beganMs));
    return turn;
  }

  #endTurn(beganMs: number): void {
    this.#turn = null;
    if (this.#waiting.length === 0) {
      this.#turnRequests = FIRST_TURN_REQUESTS;
      return;
    }
    const tookMs = Math.max(this.#now() - beganMs, 0.1);
    const fitting = Math.floor((this.#turnRequests * TURN_MS) / tookMs);
    this.#turnRequests = Math.max(1, Math.min(fitting, 2 * this.#turnRequests, TURN_REQUESTS_MAX));
    const turn = this.#beginTurn();
    for (; turn.left > 0; turn.left -= 1) {
      const begin = this.#waiting.shift();
      if (begin === undefined) return;
      begin();
    }
  }
}
