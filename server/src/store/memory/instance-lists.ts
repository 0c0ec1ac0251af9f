/** Lists of instances, and counting them. */
import { allowsName } from '../../base/allowed-names.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { fulfills } from '../records/index-conditions.js';
import type { InstanceFilter, InstancePosition } from '../records/instance-lists.js';
import { isLive, type InstanceRecord, type InstanceSummary } from '../records/instances.js';
import { containsText } from '../text-search.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';

export function listInstances(
  data: MemoryData,
  [{ limit, ...search }]: OperationArguments<'listInstances'>,
): OperationResult<'listInstances'> {
  return { items: found(data, search).slice(0, limit).map(summaryOf), searchedTo: null };
}

export function getSummaries(
  data: MemoryData,
  [ids]: OperationArguments<'getSummaries'>,
): OperationResult<'getSummaries'> {
  return ids.flatMap((id) => data.instances.get(id) ?? []).map(summaryOf);
}

export function countInstances(
  data: MemoryData,
  [{ max, ...search }]: OperationArguments<'countInstances'>,
): OperationResult<'countInstances'> {
  return { count: Math.min(found(data, search).length, max), searchedTo: null };
}

function found(
  data: MemoryData,
  { after, filter }: { readonly filter: InstanceFilter; readonly after: InstancePosition | null },
): readonly InstanceRecord[] {
  const order = filter.unchangedSince === undefined ? newestFirst : oldestFirst;
  return [...data.instances.values()]
    .filter((instance) => matches(instance, filter))
    .map((instance) => ({ instance, id: instance.id, time: listTimeOf(instance, filter) }))
    .filter((entry) => after === null || order(entry, after) > 0)
    .sort(order)
    .map(({ instance }) => instance);
}

function matches(instance: InstanceRecord, filter: InstanceFilter): boolean {
  return (
    (filter.status === undefined || instance.status === filter.status) &&
    (filter.definitionId === undefined || instance.definitionId === filter.definitionId) &&
    allowsName(filter.definitionPrefixes ?? 'all', instance.definitionId) &&
    (filter.version === undefined || instance.version === filter.version) &&
    (filter.reference === undefined || instance.reference === filter.reference) &&
    (filter.outcome === undefined || instance.outcome === filter.outcome) &&
    (filter.failure === undefined || instance.failure?.key === filter.failure) &&
    (filter.parentId === undefined || instance.parentId === filter.parentId) &&
    (filter.startedFrom === undefined || instance.startTime >= filter.startedFrom) &&
    (filter.startedTo === undefined || instance.startTime < filter.startedTo) &&
    (filter.endedFrom === undefined ||
      (instance.endTime !== null && instance.endTime >= filter.endedFrom)) &&
    (filter.endedTo === undefined ||
      (instance.endTime !== null && instance.endTime < filter.endedTo)) &&
    (filter.where ?? []).every((condition) => fulfills(instance, condition)) &&
    (filter.queued === undefined || (instance.queued && isLive(instance.status))) &&
    (filter.failedFrom === undefined ||
      (instance.errorAt !== null && instance.errorAt >= filter.failedFrom)) &&
    (filter.unchangedSince === undefined ||
      (isLive(instance.status) && instance.lastChangeAt < filter.unchangedSince)) &&
    (filter.mayContain === undefined || containsText(instance, filter.mayContain))
  );
}

function listTimeOf(instance: InstanceRecord, filter: InstanceFilter): number {
  if (filter.failedFrom !== undefined) return instance.errorAt ?? 0;
  return filter.unchangedSince === undefined ? instance.startTime : instance.lastChangeAt;
}

export function newestFirst(left: InstancePosition, right: InstancePosition): number {
  return oldestFirst(right, left);
}

export function oldestFirst(left: InstancePosition, right: InstancePosition): number {
  return left.time - right.time || compareText(left.id, right.id);
}

export function summaryOf(instance: InstanceRecord): InstanceSummary {
  const { id, definitionId, version, reference, status, startTime, endTime, wakeAt } = instance;
  const { owner, epoch, inSeq, revision, crashes, schemaVersion, requestHash } = instance;
  const { lastChangeAt, errorAt, failingSince, failure, outcome, parentId, rootId } = instance;
  const { underWay, tags, index } = instance;
  const {
    concurrencyKey,
    countsFrom,
    debounceKey,
    fairness,
    place,
    priority,
    queued,
    restartOf,
    restartedAs,
    retentionMs,
    startedBy,
  } = instance;
  return {
    id,
    definitionId,
    version,
    reference,
    tags,
    index,
    status,
    startTime,
    endTime,
    wakeAt,
    owner,
    epoch,
    inSeq,
    revision,
    crashes,
    schemaVersion,
    requestHash,
    lastChangeAt,
    errorAt,
    failingSince,
    failure,
    outcome,
    parentId,
    rootId,
    underWay,
    priority,
    fairness,
    queued,
    countsFrom,
    debounceKey,
    concurrencyKey,
    place,
    restartOf,
    restartedAs,
    retentionMs,
    startedBy,
  };
}
