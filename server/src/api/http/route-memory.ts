/**
 * The memory that each call is expected to need for its response, taken before the call runs: as much as the longest recent
 * responses of its route to the same caller. This way, new endpoints are limited automatically.
 *
 * Waiting calls take memory once they have a result; calls that read whole runs take memory per run
 * (`runtime/memory/reading-gate.ts`).
 */
import type { Caller } from '../../base/limits/current-caller.js';
import type { Permit } from '../../base/limits/weighted-queue.js';

/** Calls that may wait for something other than their response. Memory taken up front would be held during the wait. */
const WAITING_CALLS: ReadonlySet<string> = new Set([
  'ActivityController.pullActivity',
  'StreamController.streamChanges',
  'WorkflowController.getWorkflow',
  'WorkflowController.startWorkflow',
]);
/** Responses that need less aren't limited. */
const EXPECTED_MIN = 64 * 1024;
/** How much the expectation decays with each shorter response. */
const FORGET = 0.8;
/** The number of route and caller pairs to remember; the oldest are dropped. */
const PAIRS_MAX = 5000;
/** The values of a response, and its text and bytes. */
const VALUES_COST = 2;

export class RouteMemory {
  readonly #expected = new Map<string, number>();
  /** For unknown callers, by route. */
  readonly #ofRoute = new Map<string, number>();

  /**
   * Takes the memory for a call. Null if it needs none, or takes it later.
   * @throws AppError `too_many_requests`, `overloaded`; CanceledError if the caller has disconnected
   */
  async reserve(route: string, caller: Caller): Promise<Permit | null> {
    if (WAITING_CALLS.has(route) || !this.#ofRoute.has(route)) return null;
    const expected = this.#expected.get(pairOf(route, caller)) ?? this.#ofRoute.get(route) ?? 0;
    return expected < EXPECTED_MIN ? null : caller.memory.reserve('texts', expected);
  }

  /** Records how much memory a response needed for its text and bytes; 0 for a short one. */
  learn(route: string, caller: Caller, bytes: number): void {
    const isKnown = this.#ofRoute.has(route);
    if (WAITING_CALLS.has(route) || (!isKnown && bytes === 0)) return;
    const pair = pairOf(route, caller);
    const before = this.#expected.get(pair) ?? 0;
    const expected = Math.max(bytes * VALUES_COST, Math.floor(before * FORGET));
    this.#expected.delete(pair);
    this.#expected.set(pair, expected);
    this.#ofRoute.set(route, expected);
    const [oldest] = this.#expected.keys();
    if (this.#expected.size > PAIRS_MAX && oldest !== undefined) this.#expected.delete(oldest);
  }
}

function pairOf(route: string, { key }: Caller): string {
  return `${route} ${key}`;
}
