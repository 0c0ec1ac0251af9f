/**
 * The memory of instances: how much each uses, which may enter, and which must leave. Each instance needs a place
 * (`InstancePlaces`) and bytes.
 *
 * Small and large instances have separate memory, so that a few large ones waiting for each other never block the many
 * small ones, and many small ones never keep a large one out. Parked instances are no obstacle: they are evicted when their
 * memory is needed, the least recently used first.
 */
import { InstancePlaces } from './instance-places.js';
import { MemoryPool, type MemoryShare } from './memory-pool.js';

/** An instance that uses more than this share of the total memory counts as large. */
const LARGE_FROM = 1 / 128;
/** Instances at work may grow without leaving; beyond this share of the limit, they leave between two turns. */
const OVER = 5 / 4;
/** Objects around the state of an instance in memory. */
const BASE_BYTES = 6 * 1024;

export interface InstanceMemoryOptions {
  readonly bytesMax: number;
  /** Maximum number of instances that wait in memory. */
  readonly parkedMax: number;
  /** Maximum number of instances at work. */
  readonly concurrencyMax: number;
  /** Evicts a parked instance, unless it has work in progress that exists only in memory. */
  readonly evict: (instanceId: string) => void;
}

/** An instance that is about to enter memory. */
export interface MemoryRequest {
  readonly id: string;
  /** The root from which the instance descends; null if a client is starting the instance now. */
  readonly rootId: string | null;
  /** The memory that the instance needs. */
  readonly bytes: number;
}

interface Class {
  readonly pool: MemoryPool;
  /** Least recently used first. */
  readonly parked: Set<string>;
}

interface Seat {
  readonly rootId: string | null;
  readonly of: Class;
  readonly share: MemoryShare;
}

export class InstanceMemory {
  readonly #options: InstanceMemoryOptions;
  readonly #largeFrom: number;
  readonly #small: Class;
  readonly #large: Class;
  readonly #places: InstancePlaces;
  readonly #seats = new Map<string, Seat>();
  /** The bytes needed by instances that left in order to return with more memory. */
  readonly #expected = new Map<string, number>();
  #isStopped = false;
  #waits = 0;

  constructor(options: InstanceMemoryOptions) {
    this.#options = options;
    this.#largeFrom = options.bytesMax * LARGE_FROM;
    this.#small = newClass(options.bytesMax / 2);
    this.#large = newClass(options.bytesMax / 2);
    const { concurrencyMax, parkedMax } = options;
    const countMax = Math.max(parkedMax, concurrencyMax);
    const evictOne = (): boolean => this.#evictOne();
    this.#places = new InstancePlaces({ countMax, parkedMax, evictOne });
  }

  get used(): number {
    return this.#small.pool.used + this.#large.pool.used;
  }

  get waiting(): number {
    return this.#small.pool.waiting + this.#large.pool.waiting + this.#places.waiting;
  }

  get hasFreePlace(): boolean {
    return this.#places.hasFree;
  }

  /** How many times an instance has had to wait for memory since the node started. */
  get waits(): number {
    return this.#waits;
  }

  /** Sets how much memory an instance uses now. It is already in memory, so its bytes are always counted. */
  set(id: string, bytes: number): void {
    const seat = this.#seats.get(id);
    if (seat === undefined) return;
    const total = bytes + BASE_BYTES;
    const to = this.#classOf(total);
    if (seat.of === to) seat.share.resize(total);
    else {
      leaveClass(id, seat);
      this.#seats.set(id, { rootId: seat.rootId, of: to, share: to.pool.take(total) });
    }
    if (to.pool.isOver || to.pool.waiting > 0) this.#makeRoom(to, 0);
  }

  /** The instance has entered memory and uses at least this much; a larger reservation stays as it is. */
  seat({ bytes, id, rootId }: MemoryRequest): void {
    const seat = this.#seats.get(id);
    if (seat === undefined) {
      this.#places.take(rootId);
      this.#seats.set(id, { rootId, of: this.#small, share: this.#small.pool.take(0) });
    }
    if ((seat?.share.bytes ?? 0) < bytes + BASE_BYTES) this.set(id, bytes);
  }

  /** The instance may be evicted from now on. */
  parked(id: string): void {
    const seat = this.#seats.get(id);
    if (seat === undefined) return;
    seat.of.parked.delete(id);
    seat.of.parked.add(id);
    if (seat.of.pool.isOver || seat.of.pool.waiting > 0) this.#makeRoom(seat.of, 0);
    this.#places.parked();
  }

  /** The instance has left memory. */
  forget(id: string): void {
    this.#leave(id);
  }

  /** The instance was expected in memory, but is not coming. */
  notComing(id: string): void {
    this.#leave(id);
    this.#expected.delete(id);
  }

  /** Reserves memory for an instance that is about to enter; returns false if there is none now. */
  tryEnter({ bytes, id, rootId }: MemoryRequest): boolean {
    if (this.#seats.has(id)) return true;
    const total = this.#totalOf(id, bytes);
    const to = this.#classOf(total);
    if (to.pool.waiting > 0 || !this.#places.tryTake(rootId)) return false;
    this.#makeRoom(to, total);
    const share = to.pool.tryTake(total);
    if (share === null) {
      this.#places.leave(rootId);
      return false;
    }
    this.#seats.set(id, { rootId, of: to, share });
    this.#expected.delete(id);
    return true;
  }

  /** Like `tryEnter`, but queues for memory. Returns false if the node is stopping. */
  async enter({ bytes, id, rootId }: MemoryRequest): Promise<boolean> {
    const total = this.#totalOf(id, bytes);
    const to = this.#classOf(total);
    this.#waits += 1;
    if (!(await this.#places.enter(rootId))) return false;
    const entering = to.pool.enter(total);
    this.#makeRoom(to, 0);
    const share = await entering;
    // Something else may have loaded the instance meanwhile.
    if (share === null || this.#seats.has(id)) {
      share?.release();
      this.#places.leave(rootId);
    } else this.#seats.set(id, { rootId, of: to, share });
    if (share === null) return false;
    this.#expected.delete(id);
    return true;
  }

  /** Whether an instance in memory may grow to this size without leaving. If not, it is expected to return for it. */
  mayGrow(id: string, bytes: number): boolean {
    const seat = this.#seats.get(id);
    const total = bytes + BASE_BYTES;
    if (seat === undefined || this.#isStopped) return true;
    const to = this.#classOf(total);
    if (total <= seat.share.bytes) return to.pool.used <= to.pool.limit * OVER;
    const lacking = seat.of === to ? total - seat.share.bytes : total;
    this.#makeRoom(to, lacking);
    if (to.pool.waiting === 0 && to.pool.hasRoom(lacking)) {
      this.set(id, bytes);
      return true;
    }
    this.#expected.set(id, total);
    return false;
  }

  /** Ends all waits. */
  stop(): void {
    this.#isStopped = true;
    this.#places.close();
    this.#small.pool.close();
    this.#large.pool.close();
  }

  #totalOf(id: string, bytes: number): number {
    return Math.max(bytes + BASE_BYTES, this.#expected.get(id) ?? 0);
  }

  #classOf(bytes: number): Class {
    return bytes > this.#largeFrom ? this.#large : this.#small;
  }

  /** Evicts parked instances until there is room for all that wait plus `bytes`, or none is left to evict. */
  #makeRoom({ parked, pool }: Class, bytes: number): void {
    for (const id of parked) {
      const isCrowded = pool.isOver || pool.wanted > 0 || !pool.hasRoom(bytes);
      if (!isCrowded) return;
      parked.delete(id);
      this.#options.evict(id);
    }
  }

  /** Returns false if no instance is parked. */
  #evictOne(): boolean {
    for (const { parked } of [this.#small, this.#large]) {
      for (const id of parked) {
        parked.delete(id);
        this.#options.evict(id);
        if (!this.#seats.has(id)) return true;
      }
    }
    return false;
  }

  #leave(id: string): void {
    const seat = this.#seats.get(id);
    if (seat === undefined) return;
    this.#seats.delete(id);
    leaveClass(id, seat);
    this.#places.leave(seat.rootId);
  }
}

function leaveClass(id: string, { of, share }: Seat): void {
  of.parked.delete(id);
  share.release();
}

function newClass(bytesMax: number): Class {
  return { pool: new MemoryPool(bytesMax), parked: new Set() };
}
