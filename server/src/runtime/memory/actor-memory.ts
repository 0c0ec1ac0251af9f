/** The memory that one instance uses, and whether it may grow without leaving. */
import { FollowedCost } from '../../engine/values/memory-cost.js';
import { messagesCost, type ArrivedMessage } from '../instance-state/message-codec.js';

export class ActorMemory {
  readonly #mayGrow: (bytes: number) => boolean;
  readonly #state = new FollowedCost();
  /** Bytes of a stored event that a wait could not take for lack of memory. */
  #wanted = 0;
  /** Bytes of the events that waits have taken since the state was written. */
  #taken = 0;
  #hasWorked = false;

  /** @param mayGrow whether the instance may use this many bytes in total */
  constructor(state: string, mayGrow: (bytes: number) => boolean) {
    this.#mayGrow = mayGrow;
    this.#state.follow(state);
  }

  /** Bytes that the state takes, as of its last read or write. */
  get stateCost(): number {
    return this.#state.value;
  }

  /** The state was written. */
  wrote(state: string): void {
    this.#state.follow(state);
    this.#taken = 0;
  }

  /** A turn has ended. */
  worked(): void {
    this.#hasWorked = true;
  }

  /** Waits are about to search for events. */
  looks(): void {
    this.#wanted = 0;
  }

  /** Whether an event of this size may be loaded; if not, its bytes are requested. */
  hasRoomFor(bytes: number): boolean {
    if (this.#mayGrow(this.stateCost + this.#taken + bytes)) {
      this.#taken += bytes;
      return true;
    }
    this.#wanted = Math.max(this.#wanted, bytes);
    return false;
  }

  /** Whether there is no memory for the pending messages. An instance that was just loaded has room for all of them. */
  isShort(arrived: readonly ArrivedMessage[]): boolean {
    if (!this.#hasWorked) return false;
    return !this.#mayGrow(this.stateCost + messagesCost(arrived) + this.#wanted);
  }
}
