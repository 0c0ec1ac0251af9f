/** Counts of failed instances: see records/failures.ts. */
import type { OperationArguments, OperationResult } from '../operations.js';
import {
  FAILURE_HOURS,
  FAILURES_COUNTED_MAX,
  HOUR_MS,
  type FailureCount,
  type FailureFilter,
} from '../records/failures.js';
import type { InstanceRecord } from '../records/instances.js';
import { newestFirst } from './instance-lists.js';
import type { MemoryData } from './memory-data.js';

export function countFailures(
  data: MemoryData,
  [{ after, filter, now }]: OperationArguments<'countFailures'>,
): OperationResult<'countFailures'> {
  const entries = [...data.instances.values()]
    .flatMap((instance) => entryOf(instance, filter))
    .filter((entry) => after === null || newestFirst(entry, after) > 0)
    .sort(newestFirst);
  const section = entries.slice(0, FAILURES_COUNTED_MAX);
  const last = section.length === FAILURES_COUNTED_MAX ? section.at(-1) : undefined;
  const counts = new Map<string, FailureCount>();
  for (const { failure, id, instance, time } of section) {
    const { definitionId, status } = instance;
    if (filter.status !== undefined && filter.status !== status) continue;
    if (!failure.key.startsWith(filter.keyPrefix ?? '')) continue;
    const hoursAgo = Math.min(Math.max(Math.floor((now - time) / HOUR_MS), 0), FAILURE_HOURS);
    const name = `${failure.key} ${status} ${hoursAgo}`;
    const known = counts.get(name);
    counts.set(
      name,
      known === undefined
        ? {
            definitionId,
            failure,
            status,
            hoursAgo,
            count: 1,
            firstAt: time,
            lastAt: time,
            example: id,
          }
        : { ...known, count: known.count + 1, firstAt: time },
    );
  }
  return {
    counts: [...counts.values()],
    countedTo: last === undefined ? null : { time: last.time, id: last.id },
  };
}

function entryOf(instance: InstanceRecord, { failedFrom, failedTo }: FailureFilter) {
  const { errorAt: time, failure, id } = instance;
  if (time === null || failure === null) return [];
  if (time < (failedFrom ?? -Infinity) || time >= (failedTo ?? Infinity)) return [];
  return [{ failure, id, instance, time }];
}
