/**
 * The memory that each call is expected to need for its answer, taken before the call works: as much as the longest recent
 * answers of its route to the same caller. So a new endpoint is limited without doing anything for it.
 *
 * Calls that wait take their memory when they have something to answer; calls that read whole runs take what each run needs
 * (`runtime/memory/reading-gate.ts`).
 */
import type { Caller } from '../../base/limits/current-caller.js';
import type { Permit } from '../../base/limits/weighted-queue.js';

/** Calls that may wait for something else than their answer. Memory that they took first would be held meanwhile. */
const WAITING_CALLS: ReadonlySet<string> = new Set([
  'ActivityController.pullActivity',
  'StreamController.streamChanges',
  'WorkflowController.getWorkflow',
  'WorkflowController.startWorkflow',
]);
/** Answers that need less are not limited. */
const EXPECTED_MIN = 64 * 1024;
/** The decay of what is expected with each shorter answer. */
const FORGET = 0.8;
/** Pairs of routes and callers that are remembered; of more, the oldest are forgotten. */
const PAIRS_MAX = 5000;
/** The values of an answer, and its text and bytes. */
const VALUES_COST = 2;

export class RouteMemory {
  readonly #expected = new Map<string, number>();
  /** For callers that are not known, by route. */
  readonly #ofRoute = new Map<string, number>();

  /**
   * Takes the memory for a call. Null: it needs none, or takes it later.
   * @throws AppError `too_many_requests`, `overloaded`; NotWantedError if the caller has gone
   */
  async reserve(route: string, caller: Caller): Promise<Permit | null> {
    if (WAITING_CALLS.has(route) || !this.#ofRoute.has(route)) return null;
    const expected = this.#expected.get(pairOf(route, caller)) ?? this.#ofRoute.get(route) ?? 0;
    return expected < EXPECTED_MIN ? null : caller.memory.reserve('texts', expected);
  }

  /** An answer needed this much memory for its text and its bytes; 0 for a short one. */
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
