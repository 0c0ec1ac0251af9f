/** Reads activity queues: counts and lists of items. */
import { FAR_FUTURE_MS, type Store } from '../../store/store.js';
import type { ActivityListItem } from '../../store/records/activities.js';
import type { Clock } from '../../base/clock.js';
import { type Page, type PageRequest, decodeCursor, pageOf } from '../model/paging.js';
import { readExecutionKey } from '../../base/ids.js';
import type { Polling } from '../fleet/node-types.js';
import type { ActivityItemView, ActivityQueueView } from './activity-types.js';

const QUEUES_MAX = 500;

export interface ActivityQueriesOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** The current numbers of each name. */
  readonly polling: () => Promise<(name: string) => Polling>;
}

export class ActivityQueries {
  readonly #options: ActivityQueriesOptions;

  constructor(options: ActivityQueriesOptions) {
    this.#options = options;
  }

  /** The names with the most waiting items first; at most 500. */
  async listQueues(): Promise<readonly ActivityQueueView[]> {
    const { clock, polling, store } = this.#options;
    const queues = await store.listActivityQueues(clock.now(), QUEUES_MAX);
    const pollsOf = await polling();
    return queues.map(({ held, name, oldestCreatedAt, waiting }) => ({
      activityName: name,
      waiting,
      held,
      oldestTime: oldestCreatedAt,
      ...pollsOf(name),
    }));
  }

  /** In queue order: waiting items, oldest first, then deferred ones, then held ones. */
  async listItems(name: string, page: PageRequest): Promise<Page<ActivityItemView>> {
    const { clock, store } = this.#options;
    const list = `activity-items ${name}`;
    const position = decodeCursor(page.cursor, list);
    const after =
      position === null ? null : { availableAt: Number(position[0]), id: position[1] ?? '' };
    const now = clock.now();
    const found = await store.listActivityItems(name, now, after, page.limit + 1);
    const { items, nextCursor } = pageOf(found, page.limit, list, ({ availableAt, id }) => [
      String(availableAt),
      id,
    ]);
    return { items: items.map((item) => viewItem(item, now)), nextCursor };
  }
}

function viewItem(item: ActivityListItem, now: number): ActivityItemView {
  const { attempt, availableAt, claimed, createdAt, deferred, id, instanceId, workerId } = item;
  const { definitionId, fairnessKey, limited, priority, reference } = item;
  const isHeld = claimed && !deferred && !limited && availableAt > now;
  const unclaimed = deferred ? 'deferred' : 'waiting';
  const unheld = limited ? 'limited' : unclaimed;
  return {
    workflowId: instanceId,
    definitionId,
    reference,
    executionId: readExecutionKey(id).pointerId,
    attempt: isHeld ? attempt : attempt + 1,
    priority,
    fairnessKey,
    offeredTime: createdAt,
    state: isHeld ? 'held' : unheld,
    workerId: isHeld ? workerId : null,
    leaseUntil: isHeld && availableAt < FAR_FUTURE_MS ? availableAt : null,
  };
}
