/**
 * Bulk jobs, and the ids of their instances as one document for each chunk.
 *
 * Chunks are written before the job that shows them. A chunk carries the epoch of its writer, and is replaced only by the
 * same or a later owner; so a late write of an earlier owner changes nothing that counts.
 */
import { randomUUID } from 'node:crypto';
import type { Collection, Filter } from 'mongodb';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type {
  BulkIdsRecord,
  BulkJobRecord,
  BulkJobSummary,
  BulkProgress,
} from '../records/bulk-jobs.js';
import { decodeText, encodeOptional, encodeText } from '../text-codec.js';
import type { BulkIdsDocument, BulkJobDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';
import { decodeOptional, packText, unpackText } from './packed-text.js';

type SummaryDocument = Omit<BulkJobDocument, 'task' | 'failures' | 'collectedTo'>;

const SUMMARY = { task: 0, failures: 0, collectedTo: 0 };
/** Maximum number of first chunks that one purge compares with the jobs, the oldest first. */
const LOST_CHUNKS_MAX = 1000;

export async function insertBulkJob(
  context: MongoContext,
  [job, chunks]: OperationArguments<'insertBulkJob'>,
): Promise<OperationResult<'insertBulkJob'>> {
  const document = bulkJobDocumentOf(job, randomUUID());
  const documents = chunks.map((chunk) => chunkDocumentOf(document, chunk));
  if (documents.length > 0) await context.bulkIds.insertMany(documents);
  try {
    await context.bulkJobs.insertOne(document);
    return { outcome: 'inserted' };
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  const known = await context.bulkJobs.findOne({ _id: document._id });
  // The driver has repeated the insert.
  if (known?.listId === document.listId) return { outcome: 'inserted' };
  await context.bulkIds.deleteMany({ listId: document.listId });
  // It was removed in the meantime.
  if (known === null) return insertBulkJob(context, [job, chunks]);
  return { outcome: 'exists', record: bulkJobOf(known) };
}

export async function getBulkJob(
  { bulkJobs }: MongoContext,
  [id]: OperationArguments<'getBulkJob'>,
): Promise<BulkJobRecord | null> {
  const document = await bulkJobs.findOne({ _id: encodeText(id) });
  return document === null ? null : bulkJobOf(document);
}

export async function listBulkJobs(
  { bulkJobs }: MongoContext,
  [after, limit]: OperationArguments<'listBulkJobs'>,
): Promise<readonly BulkJobSummary[]> {
  const beyond: Filter<BulkJobDocument> =
    after === null
      ? {}
      : {
          startTime: { $lte: after.time },
          $or: [{ startTime: { $lt: after.time } }, { _id: { $lt: encodeText(after.id) } }],
        };
  const found = await bulkJobs
    .find<SummaryDocument>(beyond, { projection: SUMMARY })
    .sort({ startTime: -1, _id: -1 })
    .limit(limit)
    .toArray();
  return found.map(summaryOf);
}

export async function findRunningBulkJobs(
  { bulkJobs }: MongoContext,
  [limit]: OperationArguments<'findRunningBulkJobs'>,
): Promise<readonly BulkJobSummary[]> {
  const found = await bulkJobs
    .find<SummaryDocument>({ runningSince: { $exists: true } }, { projection: SUMMARY })
    .sort({ runningSince: 1, _id: 1 })
    .limit(limit)
    .toArray();
  return found.map(summaryOf);
}

export async function claimBulkJob(
  { bulkJobs }: MongoContext,
  [id, epoch, owner]: OperationArguments<'claimBulkJob'>,
): Promise<BulkJobRecord | null> {
  const claimed = await bulkJobs.findOneAndUpdate(
    { _id: encodeText(id), epoch, state: 'Running' },
    { $set: { owner: encodeText(owner), epoch: epoch + 1 } },
    { returnDocument: 'after' },
  );
  return claimed === null ? null : bulkJobOf(claimed);
}

export async function collectBulkIds(
  { bulkIds, bulkJobs }: MongoContext,
  [
    { chunk, collectedTo, epoch, isCollected, jobId, matched },
  ]: OperationArguments<'collectBulkIds'>,
): Promise<boolean> {
  const owned = { _id: encodeText(jobId), epoch, state: 'Running' } as const;
  const job = await bulkJobs.findOne<Pick<BulkJobDocument, '_id' | 'listId' | 'startTime'>>(owned, {
    projection: { listId: 1, startTime: 1 },
  });
  if (job === null) return false;
  if (chunk !== null && !(await putChunk(bulkIds, chunkDocumentOf({ ...job, epoch }, chunk)))) {
    return false;
  }
  const { matchedCount } = await bulkJobs.updateOne(owned, {
    $set: { matched, isCollected, collectedTo: encodeOptional(collectedTo) },
  });
  return matchedCount > 0;
}

/** False if a later owner has written the chunk. */
async function putChunk(
  bulkIds: Collection<BulkIdsDocument>,
  { _id, ...fields }: BulkIdsDocument,
): Promise<boolean> {
  try {
    const mayReplace = { _id, epoch: { $lte: fields.epoch } };
    await bulkIds.updateOne(mayReplace, { $set: fields }, { upsert: true });
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

export async function readBulkIds(
  { bulkIds, bulkJobs }: MongoContext,
  [jobId, position]: OperationArguments<'readBulkIds'>,
): Promise<string | null> {
  const job = await bulkJobs.findOne<Pick<BulkJobDocument, 'listId'>>(
    { _id: encodeText(jobId) },
    { projection: { listId: 1 } },
  );
  if (job === null) return null;
  const chunk = await bulkIds.findOne({ _id: `${job.listId}/${position}` });
  return chunk === null ? null : unpackText(chunk.ids);
}

export async function saveBulkProgress(
  { bulkJobs }: MongoContext,
  [progress]: OperationArguments<'saveBulkProgress'>,
): Promise<OperationResult<'saveBulkProgress'>> {
  const { endTime, epoch, jobId } = progress;
  const owned = { _id: encodeText(jobId), epoch };
  const changes = changesOf(progress);
  if (endTime !== undefined) {
    const ended = await bulkJobs.updateOne(
      { ...owned, state: 'Running' },
      { $set: { ...changes, state: 'Done', endTime }, $unset: { runningSince: '' } },
    );
    if (ended.matchedCount > 0) return 'Done';
  }
  const saved = await bulkJobs.findOneAndUpdate(
    owned,
    { $set: changes },
    { projection: { state: 1 }, returnDocument: 'after' },
  );
  return saved?.state ?? 'lost';
}

function changesOf({ done, failed, failures, released, skipped }: BulkProgress) {
  return {
    done,
    skipped,
    failed,
    ...(failures !== undefined && { failures: packText(failures) }),
    ...(released === true && { owner: null }),
  };
}

export async function stopBulkJob(
  context: MongoContext,
  [id, at]: OperationArguments<'stopBulkJob'>,
): Promise<BulkJobRecord | null> {
  await context.bulkJobs.updateOne(
    { _id: encodeText(id), state: 'Running' },
    { $set: { state: 'Stopped', endTime: at }, $unset: { runningSince: '' } },
  );
  return getBulkJob(context, [id]);
}

/** The ids go first: if this is interrupted, the next purge finds the job again. */
export async function purgeBulkJobs(
  { bulkIds, bulkJobs }: MongoContext,
  [endedBefore, limit]: OperationArguments<'purgeBulkJobs'>,
): Promise<number> {
  const ended = await bulkJobs
    .find<Pick<BulkJobDocument, '_id' | 'listId'>>(
      { endTime: { $ne: null, $lt: endedBefore } },
      { projection: { listId: 1 } },
    )
    .sort({ endTime: 1, _id: 1 })
    .limit(limit)
    .toArray();
  for (const { _id, listId } of ended) {
    await bulkIds.deleteMany({ listId });
    await bulkJobs.deleteOne({ _id });
  }
  await removeLostChunks({ bulkIds, bulkJobs }, endedBefore);
  return ended.length;
}

/** Chunks of a node that died before it inserted their job. */
async function removeLostChunks(
  { bulkIds, bulkJobs }: Pick<MongoContext, 'bulkIds' | 'bulkJobs'>,
  startedBefore: number,
): Promise<void> {
  const first = await bulkIds
    .find({ position: 0, at: { $lt: startedBefore } }, { projection: { listId: 1, jobId: 1 } })
    .sort({ at: 1 })
    .limit(LOST_CHUNKS_MAX)
    .toArray();
  if (first.length === 0) return;
  const jobIds = first.map(({ jobId }) => jobId);
  const jobs = await bulkJobs
    .find({ _id: { $in: jobIds } }, { projection: { listId: 1 } })
    .toArray();
  const known = new Set(jobs.map(({ listId }) => listId));
  const lost = first.flatMap(({ listId }) => (known.has(listId) ? [] : [listId]));
  if (lost.length > 0) await bulkIds.deleteMany({ listId: { $in: lost } });
}

export function bulkJobDocumentOf(job: BulkJobRecord, listId: string): BulkJobDocument {
  return {
    _id: encodeText(job.id),
    listId,
    requestHash: encodeOptional(job.requestHash),
    about: packText(job.about),
    task: packText(job.task),
    state: job.state,
    ...(job.state === 'Running' && { runningSince: job.startTime }),
    startTime: job.startTime,
    endTime: job.endTime,
    owner: encodeOptional(job.owner),
    epoch: job.epoch,
    matched: job.matched,
    isCollected: job.isCollected,
    collectedTo: encodeOptional(job.collectedTo),
    done: job.done,
    skipped: job.skipped,
    failed: job.failed,
    failures: packText(job.failures),
  };
}

export function bulkJobOf(document: BulkJobDocument): BulkJobRecord {
  return {
    ...summaryOf(document),
    task: unpackText(document.task),
    collectedTo: decodeOptional(document.collectedTo),
    failures: unpackText(document.failures),
  };
}

export function chunkDocumentOf(
  job: Pick<BulkJobDocument, '_id' | 'listId' | 'startTime' | 'epoch'>,
  { ids, position }: Pick<BulkIdsRecord, 'position' | 'ids'>,
): BulkIdsDocument {
  const { _id: jobId, epoch, listId, startTime: at } = job;
  return { _id: `${listId}/${position}`, listId, jobId, position, epoch, at, ids: packText(ids) };
}

function summaryOf(document: SummaryDocument): BulkJobSummary {
  return {
    id: decodeText(document._id),
    requestHash: decodeOptional(document.requestHash),
    about: unpackText(document.about),
    state: document.state,
    startTime: document.startTime,
    endTime: document.endTime,
    owner: decodeOptional(document.owner),
    epoch: document.epoch,
    matched: document.matched,
    isCollected: document.isCollected,
    done: document.done,
    skipped: document.skipped,
    failed: document.failed,
  };
}
