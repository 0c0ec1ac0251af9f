/**
 * Finds queue items for callers of this process that want one at the same time.
 *
 * They share one query and get different items of it, so that they don't race each other. A caller that arrives during a
 * query waits for the next one: the item that it gets was in the queue after its call.
 */
import { LRUCache } from 'lru-cache';
import type { Candidate } from './candidate-fields.js';
import {
  fairCandidates,
  hasKeyedItems,
  oldestItems,
  takeBackTurn,
  type FairContext,
  type Wanted,
} from './fair-candidates.js';

export interface CandidateRequest {
  /** As stored. */
  readonly name: string;
  readonly now: number;
  readonly passedOver: ReadonlySet<string>;
  /**
   * Another process was faster before: take any of the next items of the same priority, so that the processes don't all try
   * the same one again.
   */
  readonly contended: boolean;
}

interface Waiting extends CandidateRequest {
  readonly resolve: (candidate: Candidate | null) => void;
  readonly reject: (error: unknown) => void;
}

const GROUP_MAX = 64;
/** A contended request chooses among this many of the next items. */
const CHOICES = 8;
/** Items with keys of other processes may be overlooked for so long, if others are before them. */
const UNKEYED_MS = 1000;
const NAMES_MAX = 10_000;

export class CandidateFinder {
  readonly #context: FairContext;
  /** By name; present while a query for the name is in progress. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Names of which some items may have fairness keys. */
  readonly #keyed = new LRUCache<string, true>({ max: NAMES_MAX });
  /** When it was last known that no item of the name has one. */
  readonly #unkeyedAt = new LRUCache<string, number>({ max: NAMES_MAX });

  constructor(context: FairContext) {
    this.#context = context;
  }

  /** Called for new items with a fairness key. The name as stored. */
  noteKeyed(name: string): void {
    this.#keyed.set(name, true);
  }

  /** The candidate wasn't handed out. */
  takeBack(candidate: Candidate, now: number): Promise<void> {
    return takeBackTurn(this.#context, candidate, now);
  }

  /** Null: there is nothing to claim. */
  find(request: CandidateRequest): Promise<Candidate | null> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(request.name);
      const mine = { ...request, resolve, reject };
      if (waiting !== undefined) {
        waiting.push(mine);
        return;
      }
      this.#waiting.set(request.name, [mine]);
      void this.#serve(request.name);
    });
  }

  async #serve(name: string): Promise<void> {
    for (;;) {
      const group = this.#waiting.get(name)?.splice(0, GROUP_MAX) ?? [];
      if (group.length === 0) break;
      try {
        assign(group, await this.#next(name, group));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#waiting.delete(name);
  }

  async #next(name: string, group: readonly Waiting[]): Promise<Next> {
    const wanted = {
      name,
      now: Math.max(...group.map((request) => request.now)),
      count: group.length,
      passedOver: new Set(group.flatMap(({ passedOver }) => [...passedOver])),
    };
    if (this.#keyed.has(name)) {
      const fair = await fairCandidates(this.#context, wanted);
      if (fair !== null) return { candidates: fair, isFair: true };
      this.#keyed.delete(name);
      this.#unkeyedAt.set(name, performance.now());
    }
    const passedOver = Math.max(...group.map((request) => request.passedOver.size));
    const choices = group.some(({ contended }) => contended) ? CHOICES : 0;
    const limit = wanted.count + passedOver + choices;
    // With one more, it's known whether these are all.
    const found = await oldestItems(this.#context, wanted, limit + 1);
    if (await this.#isKeyed(wanted, found, found.length > limit)) {
      this.#keyed.set(name, true);
      const fair = await fairCandidates(this.#context, wanted);
      if (fair !== null) return { candidates: fair, isFair: true };
    }
    return { candidates: found.slice(0, limit), isFair: false };
  }

  /** While there are more items than these, and none of these has a key, others are looked for once in a while. */
  async #isKeyed(
    { name, now }: Wanted,
    found: readonly Candidate[],
    areMore: boolean,
  ): Promise<boolean> {
    if (found.some(({ fairnessKey }) => fairnessKey !== undefined)) return true;
    if (!areMore) return false;
    const calledAt = performance.now();
    if (calledAt - (this.#unkeyedAt.get(name) ?? -UNKEYED_MS) < UNKEYED_MS) return false;
    const isKeyed = await hasKeyedItems(this.#context, { name, now });
    if (!isKeyed) this.#unkeyedAt.set(name, calledAt);
    return isKeyed;
  }
}

interface Next {
  readonly candidates: readonly Candidate[];
  /** They are in the order of turns. */
  readonly isFair: boolean;
}

function assign(group: readonly Waiting[], { candidates, isFair }: Next): void {
  const left = [...candidates];
  for (const { now, passedOver, contended, resolve } of group) {
    const fitting = left.filter(
      ({ _id, availableAt }) => availableAt <= now && !passedOver.has(_id),
    );
    const equal = fitting.filter(({ priority }) => priority === fitting[0]?.priority);
    const choices = contended && !isFair ? Math.min(equal.length, CHOICES) : 1;
    const chosen = equal[Math.floor(Math.random() * choices)] ?? null;
    if (chosen !== null) left.splice(left.indexOf(chosen), 1);
    resolve(chosen);
  }
}
