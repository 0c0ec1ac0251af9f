/**
 * The memory of work items that are handed out: taken before an item is claimed, and held until its worker has it.
 *
 * Short items need none. The length of a long one is known from the store before it is loaded, or expected because the
 * last one of its name had it.
 */
import type { HeldMemory } from '../../base/limits/held-memory.js';
import type { Permit } from '../../base/limits/weighted-queue.js';

/** Shorter parameters are claimed without asking. */
const SHORT_LENGTH_MAX = 4096;
/** Bytes for each character of the parameters: the stored text, its values, and the answer. */
const WORK_COST = 8;
/** Names whose lengths are remembered. */
const NAMES_MAX = 1000;

/** Parameters of up to this length may be claimed. */
export interface WorkRoom {
  readonly lengthMax: number;
  /** The parameters that were claimed have this length. */
  readonly resize: (length: number) => void;
  readonly release: () => void;
}

const NOTHING_HELD = { resize: () => undefined, release: () => undefined };

export class WorkMemory {
  /** Of the last long item of each name. */
  readonly #lengths = new Map<string, number>();

  /** Room for the item that is expected, if there is some now; else for a short one. @param memory null: unlimited */
  now(name: string, memory: HeldMemory | null): WorkRoom {
    if (memory === null) return { lengthMax: Number.MAX_SAFE_INTEGER, ...NOTHING_HELD };
    const length = this.#lengths.get(name) ?? 0;
    const room = length === 0 ? null : this.tryReserve(memory, length);
    return room ?? { lengthMax: SHORT_LENGTH_MAX, ...NOTHING_HELD };
  }

  /** Null: there is no room now. */
  tryReserve(memory: HeldMemory | null, length: number): WorkRoom | null {
    if (memory === null || length <= SHORT_LENGTH_MAX) return this.now('', memory);
    const permit = memory.tryReserve('work_items', length * WORK_COST);
    return permit === null ? null : roomOf(length, permit);
  }

  /** Waits for room until the signal is aborted. @throws AppError, NotWantedError */
  async reserve(memory: HeldMemory, length: number, signal: AbortSignal): Promise<WorkRoom> {
    return roomOf(length, await memory.reserveUntil('work_items', length * WORK_COST, signal));
  }

  /** For a poll that doesn't wait. @throws AppError `too_many_requests`, `overloaded` */
  reserveNow(memory: HeldMemory, length: number): WorkRoom {
    return roomOf(length, memory.reserveNow('work_items', length * WORK_COST));
  }

  /** An item of this name had this length. */
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
