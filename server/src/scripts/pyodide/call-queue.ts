/**
 * Calls that wait for an interpreter, in two lanes, so that many scripts do not block the expressions of others, nor
 * the reverse. Within a lane, owners take turns, regardless of how many calls each has; the calls of one owner are
 * served in order of arrival. The queue is bounded.
 */

import { AlternatingQueue } from '../../base/limits/alternating-queue.js';

/** `scripts` is also for expressions of an owner whose expressions took too long before. */
export type CallKind = 'expressions' | 'scripts';

/** How many calls of the other lane may overtake a waiting call of this lane. */
const MAX_PASSED: Readonly<Record<CallKind, number>> = { expressions: 1, scripts: 16 };

export class CallQueue<Call> {
  readonly #limit: number;

  readonly #lanes: Readonly<Record<CallKind, AlternatingQueue<Call>>> = {
    expressions: new AlternatingQueue(),
    scripts: new AlternatingQueue(),
  };
  /** How many calls of the other lane have overtaken the first waiting call of this lane. */
  readonly #passed: Record<CallKind, number> = { expressions: 0, scripts: 0 };

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#lanes.expressions.length + this.#lanes.scripts.length;
  }

  /** @returns false if the queue is full */
  push(lane: CallKind, call: Call, owner = ''): boolean {
    if (this.size >= this.#limit) return false;
    this.#lanes[lane].push(owner, call);
    return true;
  }

  /** Puts a call back to the head of its lane. It is never rejected, because it had a place before. */
  putBack(lane: CallKind, call: Call, owner = ''): void {
    this.#lanes[lane].pushFirst(owner, call);
  }

  /** @param lanes the lanes whose calls may run now */
  shift(lanes: readonly CallKind[]): Call | undefined {
    const lane = this.#chooseLane(lanes);
    if (lane === null) return undefined;
    const other: CallKind = lane === 'scripts' ? 'expressions' : 'scripts';
    this.#passed[lane] = 0;
    this.#passed[other] = this.#lanes[other].length > 0 ? this.#passed[other] + 1 : 0;
    return this.#lanes[lane].shift();
  }

  /** Moves an owner's waiting expressions to the lane of the scripts. @returns the moved calls */
  demote(owner: string): readonly Call[] {
    const calls = this.#lanes.expressions.takeOwner(owner);
    for (const call of calls) this.#lanes.scripts.push(owner, call);
    return calls;
  }

  /** @returns whether the call was waiting */
  remove(call: Call): boolean {
    return this.#lanes.expressions.remove(call) || this.#lanes.scripts.remove(call);
  }

  /** Empties the queue. */
  takeAll(): readonly Call[] {
    return [...this.#lanes.expressions.takeAll(), ...this.#lanes.scripts.takeAll()];
  }

  #chooseLane(lanes: readonly CallKind[]): CallKind | null {
    const waiting = lanes.filter((lane) => this.#lanes[lane].length > 0);
    const overdue = waiting.find((lane) => this.#passed[lane] >= MAX_PASSED[lane]);
    return overdue ?? waiting[0] ?? null;
  }
}
