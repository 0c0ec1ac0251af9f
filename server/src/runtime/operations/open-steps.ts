/** The current steps of a definition's open instances: the number of instances at each step, in a bounded sample. */
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { InstanceList, InstancePosition } from '../../store/records/instance-lists.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import { searches } from '../model/bounded-search.js';
import { loadInstance } from '../instance-state/instance-views.js';

export interface OpenStepsRequest {
  readonly definitionId: string;
  /** All versions if undefined. */
  readonly version?: number;
}

export interface OpenSteps {
  /** Number of instances by open step. An instance counts once for each step. */
  readonly items: readonly { readonly stepId: string; readonly count: number }[];
  /** Number of instances in the sample. */
  readonly count: number;
  /** False: there are more open instances. */
  readonly exact: boolean;
}

/** Maximum number of instances per call, because each state is read. */
const INSTANCES_MAX = 200;
const DAY_MS = 86_400_000;

interface Source {
  readonly store: Store;
  readonly clock: Clock;
  /** Reads an instance within the memory limit. @throws AppError `workflow_not_found` */
  readonly read: <View>(
    id: string,
    view: (record: InstanceRecord) => Promise<View>,
  ) => Promise<View>;
}

/** Reads the least recently changed instances first, for a bounded time. */
export async function countOpenSteps(
  { clock, read, store }: Source,
  request: OpenStepsRequest,
): Promise<OpenSteps> {
  // This condition matches only open instances. The extra day includes changes by nodes whose clock is ahead.
  const filter = { ...request, unchangedSince: clock.now() + DAY_MS };
  const counts = new Map<string, number>();
  let after: InstancePosition | null = null;
  let count = 0;
  for (const isLast of searches(clock)) {
    const part: InstanceList = await store.listInstances({ filter, after, limit: 1 + PART });
    for (const { id } of part.items.slice(0, PART)) {
      const steps = await read(id, openStepsOf).catch(ignoreMissing);
      if (steps === null) continue;
      count += 1;
      for (const stepId of steps) counts.set(stepId, (counts.get(stepId) ?? 0) + 1);
    }
    const last = part.items.at(PART - 1);
    const hasMore = part.items.length > PART && last !== undefined;
    after = hasMore ? { time: last.lastChangeAt, id: last.id } : part.searchedTo;
    if (after === null || count >= INSTANCES_MAX || isLast()) break;
  }
  const items = Array.from(counts, ([stepId, number]) => ({ stepId, count: number }));
  return {
    items: items.sort((a, b) => b.count - a.count || (a.stepId < b.stepId ? -1 : 1)),
    count,
    exact: after === null,
  };
}

/** Number of instances between two checks of the clock. */
const PART = 20;

async function openStepsOf(record: InstanceRecord): Promise<ReadonlySet<string> | null> {
  const { endTime, pointers } = await loadInstance(record);
  return endTime === null ? new Set(Array.from(pointers.values(), ({ stepId }) => stepId)) : null;
}

/** It was removed in the meantime. */
function ignoreMissing(error: unknown): null {
  if (error instanceof AppError && error.code === 'workflow_not_found') return null;
  throw error;
}
