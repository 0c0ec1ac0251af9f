/**
 * Group commit over the network: operations that arrive at the same moment share a statement and a round trip.
 *
 * Invariants:
 *  GC1 If nothing of its kind is in flight, an operation is sent in the same turn of the event loop, together with all others
 *      of that turn: a single operation is never delayed.
 *  GC2 Every operation gets its own outcome. A group that fails because of one member is repeated one by one. If the member
 *      waits for a lock, the others do not wait for it. A group that fails because the database does not respond fails as a
 *      whole (rule S5).
 *  GC3 Two operations with the same key are never in flight at the same time, so a group never contains two rows of one id.
 *      Two groups never contain operations with the same lock: those of one process would wait for each other in the database.
 *  GC4 The count and size of a group are limited, and so is the number of groups in flight. A group without a prompt
 *      response (its connection may be dead) no longer counts, so that it does not hold back the others.
 */
import { runForServer } from '../base/limits/current-caller.js';
import { StoreUnavailableError } from './store.js';

/**
 * The database has rolled the group back because it waited too long for a lock. Nothing has happened, so it can be repeated:
 * another client may hold the lock of one row, or two groups wait for each other.
 */
export class GroupRolledBackError extends StoreUnavailableError {}

/** How long after the group was sent what was rolled back is repeated. */
export interface RepeatLimits {
  /** A group of one operation; a repetition may wait as long as the first attempt, or longer. */
  readonly aloneMs: number;
  /** An operation of a larger group. Its caller does not wait longer. */
  readonly memberMs: number;
}

export interface GroupCommitOptions<Request, Outcome> {
  /** Two requests with the same key run one after the other; null if the request has no key. */
  readonly keyOf?: (request: Request) => string | null;
  /** The locks that the database takes for the request. Those with the same lock share a group, or run one after the other. */
  readonly locksOf?: (request: Request) => readonly string[];
  /** Approximate number of characters of the request. @default 0 */
  readonly sizeOf?: (request: Request) => number;
  /** @default 100 */
  readonly countMax?: number;
  /** How long a group counts as in flight. @default 50 */
  readonly patienceMs?: number;
  /** Required if `send` throws GroupRolledBackError. @default no repetition */
  readonly repeatLimits?: RepeatLimits;
  /** Returns one outcome for each request, in the same order. */
  readonly send: (requests: readonly Request[]) => Promise<readonly Outcome[]>;
}

interface Waiting<Request, Outcome> {
  readonly request: Request;
  readonly key: string | null;
  readonly locks: readonly string[];
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

const DEFAULT_PATIENCE_MS = 50;
const GROUP_COUNT_MAX = 100;
const GROUP_SIZE_MAX = 1024 * 1024;
/** More concurrent groups would be smaller, and smaller groups cost the server more per operation. */
const GROUPS_IN_FLIGHT_MAX = 3;
/** While a group is in flight, another one is worth its round trip only if this many operations are waiting. */
const WORTH_ANOTHER_GROUP = 16;
const NO_REPETITION: RepeatLimits = { aloneMs: 0, memberMs: 0 };
/** How many operations are repeated at once after a rollback: one that waits for a lock again must not delay the others. */
const REPEATED_AT_ONCE = 3;
/** Two groups that waited for each other are not repeated at the same moment. */
const REPEAT_PAUSE_MS_MAX = 20;

export class GroupCommit<Request, Outcome> {
  readonly #options: GroupCommitOptions<Request, Outcome>;
  #waiting: Waiting<Request, Outcome>[] = [];
  readonly #keysInFlight = new Set<string>();
  readonly #locksInFlight = new Set<string>();
  #groupsInFlight = 0;
  #isScheduled = false;

  constructor(options: GroupCommitOptions<Request, Outcome>) {
    this.#options = options;
  }

  submit(request: Request): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const key = this.#options.keyOf?.(request) ?? null;
      const locks = this.#options.locksOf?.(request) ?? [];
      this.#waiting.push({ request, key, locks, resolve, reject });
      this.#schedule();
    });
  }

  /** The requests that a node receives at the same moment are handled in one turn of the event loop. */
  #schedule(): void {
    if (this.#isScheduled || !this.#mayStart()) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendWhatMay();
    });
  }

  #sendWhatMay(): void {
    while (this.#mayStart()) {
      const group = this.#takeGroup();
      // All waiting operations have the key, or a lock, of one in flight.
      if (group.length === 0) return;
      this.#groupsInFlight += 1;
      for (const { key, locks } of group) {
        if (key !== null) this.#keysInFlight.add(key);
        for (const lock of locks) this.#locksInFlight.add(lock);
      }
      void runForServer(() => this.#run(group));
    }
  }

  #mayStart(): boolean {
    if (this.#waiting.length === 0) return false;
    if (this.#groupsInFlight === 0) return true;
    return (
      this.#groupsInFlight < GROUPS_IN_FLIGHT_MAX && this.#waiting.length >= WORTH_ANOTHER_GROUP
    );
  }

  #takeGroup(): readonly Waiting<Request, Outcome>[] {
    const group: Waiting<Request, Outcome>[] = [];
    let left: Waiting<Request, Outcome>[] = [];
    const { countMax = GROUP_COUNT_MAX, sizeOf } = this.#options;
    const keys = new Set<string>();
    let size = 0;
    for (const [index, each] of this.#waiting.entries()) {
      if (group.length === countMax || (group.length > 0 && size > GROUP_SIZE_MAX)) {
        left = left.concat(this.#waiting.slice(index));
        break;
      }
      const { key, locks } = each;
      const isTaken = key !== null && (keys.has(key) || this.#keysInFlight.has(key));
      if (isTaken || locks.some((lock) => this.#locksInFlight.has(lock))) {
        left.push(each);
        continue;
      }
      if (key !== null) keys.add(key);
      size += sizeOf?.(each.request) ?? 0;
      group.push(each);
    }
    this.#waiting = left;
    return group;
  }

  /** Never rejects. */
  async #run(group: readonly Waiting<Request, Outcome>[]): Promise<void> {
    const sentAt = performance.now();
    let counts = true;
    const stopCounting = (): void => {
      if (counts) this.#groupsInFlight -= 1;
      counts = false;
      this.#sendWhatMay();
    };
    const patience = setTimeout(stopCounting, this.#options.patienceMs ?? DEFAULT_PATIENCE_MS);
    try {
      const outcomes = await this.#options.send(group.map(({ request }) => request));
      // There is one for each.
      group.forEach(({ resolve }, index) => resolve(outcomes[index] as Outcome));
    } catch (error) {
      await this.#failOrRepeat(group, error, sentAt);
    } finally {
      clearTimeout(patience);
      for (const { key, locks } of group) {
        if (key !== null) this.#keysInFlight.delete(key);
        for (const lock of locks) this.#locksInFlight.delete(lock);
      }
      stopCounting();
    }
  }

  async #failOrRepeat(
    group: readonly Waiting<Request, Outcome>[],
    error: unknown,
    sentAt: number,
  ): Promise<void> {
    if (error instanceof GroupRolledBackError) {
      await this.#repeatRolledBack(group, error, sentAt);
      return;
    }
    /** The reason for all that follow. */
    let failure: { readonly error: unknown } | null =
      group.length === 1 || error instanceof StoreUnavailableError ? { error } : null;
    for (const member of group) {
      if (failure === null) failure = await this.#repeat(member);
      else member.reject(failure.error);
    }
  }

  async #repeatRolledBack(
    group: readonly Waiting<Request, Outcome>[],
    error: GroupRolledBackError,
    sentAt: number,
  ): Promise<void> {
    const { aloneMs, memberMs } = this.#options.repeatLimits ?? NO_REPETITION;
    const repeatUntil = sentAt + (group.length === 1 ? aloneMs : memberMs);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * REPEAT_PAUSE_MS_MAX));
    let failure: { readonly error: unknown } | null = null;
    // All loops take the next operation from the same list.
    const left = group.values();
    const repeatNext = async (): Promise<void> => {
      for (const member of left) {
        if (failure === null && performance.now() >= repeatUntil) failure = { error };
        if (failure === null) {
          const reason = await this.#repeat(member);
          if (reason !== null) failure = reason;
        } else {
          member.reject(failure.error);
        }
      }
    };
    await Promise.all(Array.from({ length: REPEATED_AT_ONCE }, repeatNext));
  }

  /** Sends one operation of a group by itself. Returns the error if the database does not respond; otherwise null. */
  async #repeat({
    reject,
    request,
    resolve,
  }: Waiting<Request, Outcome>): Promise<{ readonly error: unknown } | null> {
    try {
      const [outcome] = await this.#options.send([request]);
      resolve(outcome as Outcome); // There is one for each.
      return null;
    } catch (error) {
      reject(error);
      const isGone =
        error instanceof StoreUnavailableError && !(error instanceof GroupRolledBackError);
      return isGone ? { error } : null;
    }
  }
}
