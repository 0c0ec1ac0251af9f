/**
 * Group commit over the network: operations that arrive at the same moment share a statement and a round trip.
 *
 * Invariants:
 *  GC1 An operation is sent immediately if nothing of its kind is in flight: a single operation is never delayed.
 *  GC2 Every operation gets its own outcome. A group that fails because of one member is repeated one by one; a group that
 *      fails because the database does not respond fails as a whole (rule S5).
 *  GC3 Two operations with the same key are never in flight at the same time, so a group never contains two rows of one id.
 *  GC4 The count and size of a group are limited, and so is the number of groups in flight. A group without a prompt
 *      response (its connection may be dead) no longer counts, so that it does not hold back the others.
 */
import { StoreUnavailableError } from './store.js';

export interface GroupCommitOptions<Request, Outcome> {
  /** Two requests with the same key run one after the other; null if the request has no key. */
  readonly keyOf?: (request: Request) => string | null;
  /** Approximate number of characters of the request. @default 0 */
  readonly sizeOf?: (request: Request) => number;
  /** @default 100 */
  readonly countMax?: number;
  /** How long a group counts as in flight. @default 50 */
  readonly patienceMs?: number;
  /** Returns one outcome for each request, in the same order. */
  readonly send: (requests: readonly Request[]) => Promise<readonly Outcome[]>;
}

interface Waiting<Request, Outcome> {
  readonly request: Request;
  readonly key: string | null;
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

export class GroupCommit<Request, Outcome> {
  readonly #options: GroupCommitOptions<Request, Outcome>;
  #waiting: Waiting<Request, Outcome>[] = [];
  readonly #keysInFlight = new Set<string>();
  #groupsInFlight = 0;

  constructor(options: GroupCommitOptions<Request, Outcome>) {
    this.#options = options;
  }

  submit(request: Request): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const key = this.#options.keyOf?.(request) ?? null;
      this.#waiting.push({ request, key, resolve, reject });
      this.#sendWhatMay();
    });
  }

  #sendWhatMay(): void {
    while (this.#mayStart()) {
      const group = this.#takeGroup();
      // All waiting operations have the key of one in flight.
      if (group.length === 0) return;
      this.#groupsInFlight += 1;
      for (const { key } of group) if (key !== null) this.#keysInFlight.add(key);
      void this.#run(group);
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
      if (each.key !== null) {
        if (keys.has(each.key) || this.#keysInFlight.has(each.key)) {
          left.push(each);
          continue;
        }
        keys.add(each.key);
      }
      size += sizeOf?.(each.request) ?? 0;
      group.push(each);
    }
    this.#waiting = left;
    return group;
  }

  /** Never rejects. */
  async #run(group: readonly Waiting<Request, Outcome>[]): Promise<void> {
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
      await this.#failOrRepeat(group, error);
    } finally {
      clearTimeout(patience);
      for (const { key } of group) if (key !== null) this.#keysInFlight.delete(key);
      stopCounting();
    }
  }

  async #failOrRepeat(group: readonly Waiting<Request, Outcome>[], error: unknown): Promise<void> {
    /** The reason for all that follow. */
    let failure: { readonly error: unknown } | null =
      group.length === 1 || error instanceof StoreUnavailableError ? { error } : null;
    for (const { request, resolve, reject } of group) {
      if (failure !== null) {
        reject(failure.error);
        continue;
      }
      try {
        const [outcome] = await this.#options.send([request]);
        resolve(outcome as Outcome); // There is one for each.
      } catch (reason) {
        reject(reason);
        if (reason instanceof StoreUnavailableError) failure = { error: reason };
      }
    }
  }
}
