/** Groups failed instances by cause. */
import type { Clock } from '../../base/clock.js';
import { normalizeMessage } from '../../engine/failure/normalize-message.js';
import {
  FAILURE_HOURS,
  type FailureCount,
  type FailureCounts,
  type FailureFilter,
} from '../../store/records/failures.js';
import type { InstancePosition } from '../../store/records/instance-lists.js';
import type { InstanceFailure, InstanceStatus } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import { failureKeyPrefixOf } from '../instance-state/instance-failure.js';
import { searches } from '../model/bounded-search.js';

/** Maximum number of groups per call. */
const GROUPS_MAX = 10_000;

export type FailureOrder = 'count' | 'lastTime';

export interface FailureListRequest extends Omit<FailureFilter, 'keyPrefix'> {
  readonly definitionId?: string;
  readonly order: FailureOrder;
  readonly limit: number;
}

/** Failed instances with the same cause. */
export interface FailureGroup extends InstanceFailure {
  readonly definitionId: string;
  /** By status: Suspended, Runnable, Terminated. */
  readonly suspended: number;
  readonly retrying: number;
  readonly failed: number;
  readonly firstTime: number;
  readonly lastTime: number;
  /** The instance with the newest error. */
  readonly example: string;
  /** Instances by the hour of their error, the oldest hour first. */
  readonly trend: readonly number[];
}

export interface FailureList {
  readonly items: readonly FailureGroup[];
  /** Number of groups and of failed instances, including those that are not in `items`. */
  readonly groups: number;
  readonly count: number;
  /** False: there are more failed instances, with older errors. */
  readonly exact: boolean;
}

type Totals = Readonly<Record<'suspended' | 'retrying' | 'failed', number>>;

interface OpenGroup {
  totals: Totals;
  newest: FailureCount;
  firstTime: number;
  readonly trend: number[];
}

export class FailureQueries {
  readonly #options: { readonly store: Store; readonly clock: Clock };

  constructor(options: { readonly store: Store; readonly clock: Clock }) {
    this.#options = options;
  }

  /** Reads the newest errors first, for a bounded time. */
  async listFailures(request: FailureListRequest): Promise<FailureList> {
    const { clock, store } = this.#options;
    const { definitionId, limit, order, ...rest } = request;
    const filter: FailureFilter = {
      ...rest,
      ...(definitionId !== undefined && { keyPrefix: failureKeyPrefixOf(definitionId) }),
    };
    const groups = new Map<string, OpenGroup>();
    const now = clock.now();
    let after: InstancePosition | null = null;
    for (const isLast of searches(clock)) {
      const part: FailureCounts = await store.countFailures({ filter, now, after });
      for (const count of part.counts) addCount(groups, count);
      after = part.countedTo;
      if (after === null || groups.size > GROUPS_MAX || isLast()) break;
    }
    const items = Array.from(groups.values(), viewGroup).sort(ORDERS[order]);
    return {
      items: items.slice(0, limit),
      groups: items.length,
      count: items.reduce((sum, group) => sum + countOf(group), 0),
      exact: after === null,
    };
  }
}

function addCount(groups: Map<string, OpenGroup>, count: FailureCount): void {
  const { key } = count.failure;
  let group = groups.get(key);
  if (group === undefined) {
    const totals = { suspended: 0, retrying: 0, failed: 0 };
    const trend = new Array<number>(FAILURE_HOURS).fill(0);
    group = { totals, newest: count, firstTime: count.firstAt, trend };
    groups.set(key, group);
  }
  const name = TOTAL_BY_STATUS[count.status];
  group.totals = { ...group.totals, [name]: group.totals[name] + count.count };
  if (count.lastAt > group.newest.lastAt) group.newest = count;
  group.firstTime = Math.min(group.firstTime, count.firstAt);
  const hour = FAILURE_HOURS - 1 - count.hoursAgo;
  if (hour >= 0) group.trend[hour] = (group.trend[hour] ?? 0) + count.count;
}

const TOTAL_BY_STATUS: Readonly<Record<InstanceStatus, keyof Totals>> = {
  Suspended: 'suspended',
  Runnable: 'retrying',
  Terminated: 'failed',
  // Complete instances are not failed.
  Complete: 'failed',
};

function viewGroup({ firstTime, newest, totals, trend }: OpenGroup): FailureGroup {
  const { definitionId, example, failure, lastAt } = newest;
  const { key, stepId, type } = failure;
  const message = normalizeMessage(failure.message);
  const times = { firstTime, lastTime: lastAt };
  return { key, definitionId, stepId, type, message, ...totals, ...times, example, trend };
}

export function countOf({ failed, retrying, suspended }: Totals): number {
  return suspended + retrying + failed;
}

type Comparison = (left: FailureGroup, right: FailureGroup) => number;

const byLastTime: Comparison = (left, right) =>
  right.lastTime - left.lastTime || (left.key < right.key ? -1 : 1);

const ORDERS: Readonly<Record<FailureOrder, Comparison>> = {
  count: (left, right) => countOf(right) - countOf(left) || byLastTime(left, right),
  lastTime: byLastTime,
};
