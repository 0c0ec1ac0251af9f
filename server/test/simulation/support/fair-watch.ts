/** Watches what is handed out of the queue of `fair.ts` (I22). */
import {
  isClaimed,
  type ActivityListItem,
  type ClaimedActivity,
  type NewActivityRecord,
} from '../../../src/store/records/activities.js';
import { PRIORITIES, type Priority } from '../../../src/engine/model/start-options.js';
import type { InstanceRecord } from '../../../src/store/records/instances.js';
import type { Store } from '../../../src/store/store.js';
import { FAIR_WORK } from './fair.js';
import { TurnsCheck } from './turns-check.js';
import { hold, Violation } from './violation.js';

const QUEUE_MAX = 1000;

/** What was in the queue when a worker asked. */
interface Moment {
  readonly items: Promise<readonly ActivityListItem[]>;
  readonly runs: Promise<readonly (InstanceRecord | null)[]>;
}

export class FairWatch {
  readonly #turns = new TurnsCheck();
  /** The keys of items, as they were offered. */
  readonly #keys = new Map<string, string>();
  readonly #runs = new Set<string>();

  offers(items: readonly NewActivityRecord[]): void {
    for (const { fairness, id, instanceId, name } of items) {
      if (name !== FAIR_WORK) continue;
      this.#keys.set(id, this.#turns.keyOf(fairness));
      this.#runs.add(instanceId);
    }
  }

  /** Reads everything at once. */
  moment(store: Store, now: number): Moment {
    return {
      items: store.listActivityItems(FAIR_WORK, now, null, QUEUE_MAX),
      runs: Promise.all([...this.#runs].map((id) => store.getInstance(id))),
    };
  }

  async claimed(moment: Moment, claimed: ClaimedActivity, now: number): Promise<void> {
    const runs = new Map((await moment.runs).map((run) => [run?.id, run]));
    const available = (await moment.items).filter(
      ({ availableAt, instanceId }) =>
        availableAt <= now && runs.get(instanceId)?.status === 'Runnable',
    );
    for (const priority of PRIORITIES) {
      const items = available.filter((item) => item.priority === priority);
      this.#turns.waiting(lineOf(priority), new Set(items.map(({ id }) => this.#keyOf(id))));
    }
    if (!isClaimed(claimed)) return;
    const { id, priority } = claimed;
    const before = available.find((item) => item.priority < priority);
    const text = (): string => `${id}, but ${before?.id ?? ''} waits`;
    hold(before === undefined, 'I22 work of a higher priority is handed out first', text);
    this.#turns.handOut(lineOf(priority), [this.#keyOf(id)]);
  }

  #keyOf(id: string): string {
    return this.#keys.get(id) ?? '';
  }
}

function lineOf(priority: Priority): string {
  return `items of the priority ${priority}`;
}

/** A world in which work may have fairness keys. */
export interface FairWorld {
  readonly hasFairness: boolean;
  readonly fair: FairWatch;
  violated(violation: Violation): void;
}

export function monitorFairness(base: Store, world: FairWorld): Store {
  const { fair } = world;
  if (!world.hasFairness) return base;
  return {
    ...base,
    insertInstance: (insert) => {
      fair.offers(insert.side.activities);
      return base.insertInstance(insert);
    },
    commitInstance: (commit) => {
      fair.offers(commit.side.activities);
      return base.commitInstance(commit);
    },
    claimActivity: async (request) => {
      if (request.name !== FAIR_WORK) return base.claimActivity(request);
      const before = fair.moment(base, request.now);
      const answer = base.claimActivity(request);
      try {
        await fair.claimed(before, await answer, request.now);
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        world.violated(error);
      }
      return answer;
    },
  };
}
