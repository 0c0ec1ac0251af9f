/** Bulk jobs and the ids of their instances. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type { BulkJobRecord, BulkJobSummary } from '../records/bulk-jobs.js';
import { compareText } from '../text-order.js';
import { newestFirst } from './instance-lists.js';
import type { MemoryData } from './memory-data.js';

export function insertBulkJob(
  data: MemoryData,
  [job, chunks]: OperationArguments<'insertBulkJob'>,
): OperationResult<'insertBulkJob'> {
  const record = data.bulkJobs.get(job.id);
  if (record !== undefined) return { outcome: 'exists', record };
  data.bulkJobs.set(job.id, { ...job });
  data.bulkIds.set(job.id, new Map(chunks.map(({ ids, position }) => [position, ids])));
  return { outcome: 'inserted' };
}

export function getBulkJob(
  data: MemoryData,
  [id]: OperationArguments<'getBulkJob'>,
): BulkJobRecord | null {
  return data.bulkJobs.get(id) ?? null;
}

export function listBulkJobs(
  data: MemoryData,
  [after, limit]: OperationArguments<'listBulkJobs'>,
): readonly BulkJobSummary[] {
  return [...data.bulkJobs.values()]
    .map((job) => ({ job, time: job.startTime, id: job.id }))
    .filter((entry) => after === null || newestFirst(entry, after) > 0)
    .sort(newestFirst)
    .slice(0, limit)
    .map(({ job }) => summaryOf(job));
}

export function findRunningBulkJobs(
  data: MemoryData,
  [limit]: OperationArguments<'findRunningBulkJobs'>,
): readonly BulkJobSummary[] {
  return [...data.bulkJobs.values()]
    .filter(({ state }) => state === 'Running')
    .sort((left, right) => left.startTime - right.startTime || compareText(left.id, right.id))
    .slice(0, limit)
    .map(summaryOf);
}

export function claimBulkJob(
  data: MemoryData,
  [id, epoch, owner]: OperationArguments<'claimBulkJob'>,
): BulkJobRecord | null {
  const job = data.bulkJobs.get(id);
  if (job?.epoch !== epoch || job.state !== 'Running') return null;
  return put(data, { ...job, owner, epoch: epoch + 1 });
}

export function collectBulkIds(
  data: MemoryData,
  [
    { chunk, collectedTo, epoch, isCollected, jobId, matched },
  ]: OperationArguments<'collectBulkIds'>,
): boolean {
  const job = data.bulkJobs.get(jobId);
  if (job?.epoch !== epoch || job.state !== 'Running') return false;
  if (chunk !== null) data.bulkIds.get(jobId)?.set(chunk.position, chunk.ids);
  put(data, { ...job, matched, collectedTo, isCollected });
  return true;
}

export function readBulkIds(
  data: MemoryData,
  [jobId, position]: OperationArguments<'readBulkIds'>,
): string | null {
  return data.bulkIds.get(jobId)?.get(position) ?? null;
}

export function saveBulkProgress(
  data: MemoryData,
  [
    { done, endTime, epoch, failed, failures, jobId, released, skipped },
  ]: OperationArguments<'saveBulkProgress'>,
): OperationResult<'saveBulkProgress'> {
  const job = data.bulkJobs.get(jobId);
  if (job?.epoch !== epoch) return 'lost';
  const hasEnded = job.state === 'Running' && endTime !== undefined;
  const { state } = put(data, {
    ...job,
    done,
    skipped,
    failed,
    failures: failures ?? job.failures,
    owner: released === true ? null : job.owner,
    ...(hasEnded && { state: 'Done', endTime }),
  });
  return state;
}

export function stopBulkJob(
  data: MemoryData,
  [id, at]: OperationArguments<'stopBulkJob'>,
): BulkJobRecord | null {
  const job = data.bulkJobs.get(id);
  if (job?.state !== 'Running') return job ?? null;
  return put(data, { ...job, state: 'Stopped', endTime: at });
}

export function purgeBulkJobs(
  data: MemoryData,
  [endedBefore, limit]: OperationArguments<'purgeBulkJobs'>,
): number {
  const ended = [...data.bulkJobs.values()]
    .flatMap(({ endTime, id }) =>
      endTime === null || endTime >= endedBefore ? [] : { endTime, id },
    )
    .sort((left, right) => left.endTime - right.endTime || compareText(left.id, right.id))
    .slice(0, limit);
  for (const { id } of ended) {
    data.bulkJobs.delete(id);
    data.bulkIds.delete(id);
  }
  return ended.length;
}

function put(data: MemoryData, job: BulkJobRecord): BulkJobRecord {
  data.bulkJobs.set(job.id, job);
  return job;
}

function summaryOf(job: BulkJobRecord): BulkJobSummary {
  const { about, endTime, id, owner, requestHash, startTime, state } = job;
  const { done, epoch, failed, isCollected, matched, skipped } = job;
  return {
    id,
    requestHash,
    about,
    state,
    startTime,
    endTime,
    owner,
    epoch,
    matched,
    isCollected,
    done,
    skipped,
    failed,
  };
}
