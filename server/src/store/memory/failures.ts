/** Counts of failed instances: see records/failures.ts. */
import { allowsName } from '../../base/allowed-names.js';
import { countEntries } from '../failure-counts.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { sectionMaxOf, type FailureFilter } from '../records/failures.js';
import { fulfills } from '../records/index-conditions.js';
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
  const max = sectionMaxOf(filter);
  const section = entries.slice(0, max);
  const last = section.length === max ? section.at(-1) : undefined;
  const counted = section.filter(
    ({ definitionId, failure, instance, status }) =>
      (filter.status === undefined || filter.status === status) &&
      failure.key.startsWith(filter.keyPrefix ?? '') &&
      allowsName(filter.definitionPrefixes ?? 'all', definitionId) &&
      (filter.where ?? []).every((condition) => fulfills(instance, condition)),
  );
  return {
    counts: countEntries(counted, now),
    countedTo: last === undefined ? null : { time: last.time, id: last.id },
  };
}

function entryOf(instance: InstanceRecord, { failedFrom, failedTo }: FailureFilter) {
  const { definitionId, errorAt: time, failingSince, failure, id, status } = instance;
  if (time === null || failure === null) return [];
  if (time < (failedFrom ?? -Infinity) || time >= (failedTo ?? Infinity)) return [];
  return [{ definitionId, failingSince, failure, id, instance, status, time }];
}
