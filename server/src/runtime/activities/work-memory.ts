/**
 * Memory for the delivery of work items: reserved before an item is claimed, and held until its worker has it.
 *
 * Short items need none. The length of a long one is read from the store before it is loaded, or assumed to be that of the last
 * one with its name.
 */
import type { HeldMemory } from '../../base/limits/held-memory.js';
import type { Permit } from '../../base/limits/weighted-queue.js';

/** Shorter parameters are claimed without asking. */
const SHORT_LENGTH_MAX = 4096;
/** Bytes for each character of the parameters: the stored text, its values, and the answer. */
const WORK_COST = 8;
/** Names whose lengths are remembered. */
const NAMES_MAX = 1000;

/** Reserved memory: parameters of up to this length may be claimed. */
export interface WorkRoom {
  readonly lengthMax: number;
  /** Adjusts the reservation to the length of the claimed parameters. */
  readonly resize: (length: number) => void;
  readonly release: () => void;
}

const NOTHING_HELD = { resize: () => undefined, release: () => undefined };

export class WorkMemory {
  /** The length of the last long item of each name. */
  readonly #lengths = new Map<string, number>();

  /** Reserves memory for the expected item if available; otherwise for a short one. @param memory null: unlimited */
  now(name: string, memory: HeldMemory | null): WorkRoom {
    if (memory === null) return { lengthMax: Number.MAX_SAFE_INTEGER, ...NOTHING_HELD };
    const length = this.#lengths.get(name) ?? 0;
    const room = length === 0 ? null : this.tryReserve(memory, length);
    return room ?? { lengthMax: SHORT_LENGTH_MAX, ...NOTHING_HELD };
  }

  /** Null: there isn't enough memory now. */
  tryReserve(memory: HeldMemory | null, length: number): WorkRoom | null {
    if (memory === null || length <= SHORT_LENGTH_MAX) return this.now('', memory);
    const permit = memory.tryReserve('work_items', length * WORK_COST);
    return permit === null ? null : roomOf(length, permit);
  }

  /** Waits for memory until the signal is aborted. @throws AppError, CanceledError */
  async reserve(memory: HeldMemory, length: number, signal: AbortSignal): Promise<WorkRoom> {
    return roomOf(length, await memory.reserveUntil('work_items', length * WORK_COST, signal));
  }

  /** For a poll that doesn't wait. @throws AppError `too_many_requests`, `overloaded` */
  reserveNow(memory: HeldMemory, length: number): WorkRoom {
    return roomOf(length, memory.reserveNow('work_items', length * WORK_COST));
  }

  /** Records the length of an item of this name. */
  learn(name: string, length: number): void {
    this.#lengths.delete(name);
    if (length <= SHORT_LENGTH_MAX) return;
    this.#lengths.set(name, length);
    const [oldest] = this.#lengths.keys();
    if (this.#lengths.size > NAMES_MAX && oldest !== undefined) this.#lengths.delete(oldest);
  }
}

function roomOf(lengthMax: number, permit: Permit): WorkRoom {
  return {
    lengthMax,
    resize: (length) => permit.resize(length <= SHORT_LENGTH_MAX ? 0 : length * WORK_COST),
    release: () => permit.release(),
  };
}
