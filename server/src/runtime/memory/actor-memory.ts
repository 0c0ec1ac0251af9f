/** What one instance takes of the memory, and whether it may take in more where it is. */
import { FollowedCost } from '../../base/memory-cost.js';
import { messageCost, type ArrivedMessage } from '../instances/message-codec.js';

export class ActorMemory {
  readonly #mayGrow: (bytes: number) => boolean;
  readonly #state = new FollowedCost();
  /** Bytes that a stored event takes that a wait could not take in, for want of memory. */
  #wanted = 0;
  #hasWorked = false;

  /** @param mayGrow whether the instance may take so many bytes, all in all */
  constructor(state: string, mayGrow: (bytes: number) => boolean) {
    this.#mayGrow = mayGrow;
    this.#state.follow(state);
  }

  /** Bytes that the state takes, as it was when it was last read or written. */
  get stateCost(): number {
    return this.#state.value;
  }

  /** The state was written. */
  wrote(state: string): void {
    this.#state.follow(state);
  }

  /** A turn is over. */
  worked(): void {
    this.#hasWorked = true;
  }

  /** Waits are about to look for events. */
  looks(): void {
    this.#wanted = 0;
  }

  /** Whether an event that takes so many bytes may come in; if not, it is wanted. */
  hasRoomFor(bytes: number): boolean {
    if (this.#mayGrow(this.stateCost + bytes)) return true;
    this.#wanted = Math.max(this.#wanted, bytes);
    return false;
  }

  /** Whether what is to be taken in finds no room. One that has just come has a seat for all of it. */
  isShort(arrived: readonly ArrivedMessage[]): boolean {
    if (!this.#hasWorked) return false;
    const arriving = arrived.reduce((cost, { body }) => cost + messageCost(body), 0);
    return !this.#mayGrow(this.stateCost + arriving + this.#wanted);
  }
}
