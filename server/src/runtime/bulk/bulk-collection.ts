/**
 * Collects the ids of the instances on which a bulk job acts, and stores them in chunks. If it is interrupted, it continues
 * after the last chunk.
 *
 * The list is read from its newest instance on, so it excludes instances that start during the collection. An instance that
 * changes is included as of its read; a list that fits into one read is a snapshot.
 */
import { BULK_CHUNK, type BulkJobRecord } from '../../store/records/bulk-jobs.js';
import type { InstanceFilter, InstancePosition } from '../../store/records/instance-lists.js';
import type { InstanceSummary } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import { readStoredConditions } from '../model/parse-condition.js';
import { readPosition, writeIds, writePosition } from './bulk-codec.js';
import type { BulkFilter } from './bulk-types.js';

/** Number of instances per read, small enough not to delay other reads. */
const READ_AT_ONCE = 250;

export interface BulkCollectionOptions {
  readonly store: Pick<Store, 'listInstances' | 'collectBulkIds'>;
  readonly filter: BulkFilter;
  /** Calls the store until it responds; null if the job no longer belongs to this node. */
  readonly retry: <Value>(ask: () => Promise<Value>) => Promise<Value | null>;
  readonly matched: (count: number) => void;
}

type Unfinished = Pick<BulkJobRecord, 'id' | 'epoch' | 'matched' | 'collectedTo'>;

/** False if the job no longer belongs to this node. */
export async function collectIds(
  job: Unfinished,
  { filter, matched, retry, store }: BulkCollectionOptions,
): Promise<boolean> {
  const listed = toInstanceFilter(filter);
  let after = job.collectedTo === null ? null : readPosition(job.collectedTo);
  let stored = job.matched;
  let found: readonly Found[] = [];
  for (;;) {
    const page = { filter: listed, after, limit: READ_AT_ONCE };
    const list = await retry(() => store.listInstances(page));
    if (list === null) return false;
    found = [...found, ...list.items.map((item) => foundIn(item, listed))];
    const last = found.at(-1)?.at ?? null;
    after = list.items.length < READ_AT_ONCE ? list.searchedTo : last;
    const isLast = after === null;
    while (found.length >= BULK_CHUNK || isLast) {
      const chunk = found.slice(0, BULK_CHUNK);
      found = found.slice(BULK_CHUNK);
      const isCollected = isLast && found.length === 0;
      const collectedTo = chunk.at(-1)?.at ?? null;
      const collection = {
        jobId: job.id,
        epoch: job.epoch,
        chunk: chunk.length === 0 ? null : chunkOf(stored, chunk),
        matched: stored + chunk.length,
        collectedTo: collectedTo === null ? null : writePosition(collectedTo),
        isCollected,
      };
      if ((await retry(() => store.collectBulkIds(collection))) !== true) return false;
      stored += chunk.length;
      matched(stored);
      if (isCollected) return true;
    }
  }
}

/** The API has checked the conditions. @throws AppError `invalid_request` for a malformed condition */
export function toInstanceFilter({ where, ...filter }: BulkFilter): InstanceFilter {
  return { ...filter, ...(where !== undefined && { where: readStoredConditions(where) }) };
}

interface Found {
  readonly id: string;
  readonly at: InstancePosition;
}

function foundIn(instance: InstanceSummary, filter: InstanceFilter): Found {
  const { errorAt, id, lastChangeAt, startTime } = instance;
  let time = startTime;
  if (filter.failedFrom !== undefined) time = errorAt ?? 0;
  else if (filter.unchangedSince !== undefined) time = lastChangeAt;
  return { id, at: { time, id } };
}

function chunkOf(stored: number, chunk: readonly Found[]) {
  return { position: stored / BULK_CHUNK, ids: writeIds(chunk.map(({ id }) => id)) };
}
