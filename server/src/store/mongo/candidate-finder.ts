/**
 * Finds queue items for callers of this process that want one at the same time.
 *
 * They share one query and get different items of it, so that they don't race each other. A caller that arrives during a
 * query waits for the next one: the item that it gets was in the queue after its call.
 */
import { ANY_PRIORITY } from './activity-documents.js';
import type { Collections } from './collections.js';
import type { ActivityDocument } from './documents.js';

export type Candidate = Pick<
  ActivityDocument,
  | '_id'
  | 'instanceId'
  | 'priority'
  | 'createdAt'
  | 'availableAt'
  | 'attempt'
  | 'tokenHash'
  | 'workerId'
  | 'parametersLength'
  | 'needs'
  | 'slots'
  | 'slotTry'
  | 'slotOn'
  | 'slotState'
>;

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

const CANDIDATE_FIELDS = {
  instanceId: 1,
  priority: 1,
  createdAt: 1,
  availableAt: 1,
  attempt: 1,
  tokenHash: 1,
  workerId: 1,
  parametersLength: 1,
  needs: 1,
  slots: 1,
  slotTry: 1,
  slotOn: 1,
  slotState: 1,
};

export class CandidateFinder {
  readonly #activities: Collections['activities'];
  /** By name; present while a query for the name is in progress. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(activities: Collections['activities']) {
    this.#activities = activities;
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

  #next(name: string, group: readonly Waiting[]): Promise<Candidate[]> {
    const now = Math.max(...group.map((request) => request.now));
    const passedOver = Math.max(...group.map((request) => request.passedOver.size));
    const choices = group.some(({ contended }) => contended) ? CHOICES : 0;
    return this.#activities
      .find(
        { name, done: false, settled: false, priority: ANY_PRIORITY, availableAt: { $lte: now } },
        { projection: CANDIDATE_FIELDS },
      )
      .sort({ priority: 1, availableAt: 1, _id: 1 })
      .limit(group.length + passedOver + choices)
      .toArray();
  }
}

function assign(group: readonly Waiting[], candidates: Candidate[]): void {
  for (const { now, passedOver, contended, resolve } of group) {
    const fitting = candidates.filter(
      ({ _id, availableAt }) => availableAt <= now && !passedOver.has(_id),
    );
    const equal = fitting.filter(({ priority }) => priority === fitting[0]?.priority);
    const choices = contended ? Math.min(equal.length, CHOICES) : 1;
    const chosen = equal[Math.floor(Math.random() * choices)] ?? null;
    if (chosen !== null) candidates.splice(candidates.indexOf(chosen), 1);
    resolve(chosen);
  }
}
