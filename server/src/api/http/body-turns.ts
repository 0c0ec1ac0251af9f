/**
 * Spreads the bytes of request bodies over turns of the event loop: a turn reads a limited number, whether the bodies are wanted
 * or were refused, and callers alternate. So another request doesn't wait until hundreds of bodies have arrived, and
 * the bytes become garbage at a rate that the garbage collector keeps up with.
 */
import type { Request } from 'express';
import { AlternatingQueue } from '../../base/limits/alternating-queue.js';

const TURN_BYTES = 256 << 10;
/** Node.js reads about this much of a connection at once. */
const PART_BYTES = 64 << 10;

/** What is paused and resumed. */
type Body = Pick<Request, 'pause' | 'resume'>;

export class BodyTurns {
  readonly #waiting = new AlternatingQueue<Body>();
  #left = TURN_BYTES;
  #isTurning = false;

  /** After a part of a body, if more of it will come: pauses the body if this turn has read enough. */
  count(caller: string, body: Body, bytes: number): void {
    this.#left -= bytes;
    this.#endTurnSoon();
    if (this.#left > 0 && this.#waiting.length === 0) return;
    body.pause();
    this.#waiting.push(caller, body);
  }

  #endTurnSoon(): void {
    if (this.#isTurning) return;
    this.#isTurning = true;
    // An immediate that is set while immediates run fires after the next check of sockets and timers.
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#isTurning = false;
    this.#left = TURN_BYTES;
    for (let bytes = 0; bytes < TURN_BYTES; bytes += PART_BYTES) this.#waiting.shift()?.resume();
    if (this.#waiting.length > 0) this.#endTurnSoon();
  }
}
