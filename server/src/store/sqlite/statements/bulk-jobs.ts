/** Bulk jobs: operations that take several statements here, and one on PostgreSQL. */
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type { BulkIdsRecord } from '../../records/bulk-jobs.js';
import { BULK_IDS_COLUMNS, BULK_JOB_COLUMNS, BULK_JOB_OPERATIONS } from '../../sql/bulk-jobs.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { insert } from '../../sql/statements.js';
import { runSteps } from '../shared-operations.js';

export function insertBulkJob(
  database: Database,
  [job, chunks]: OperationArguments<'insertBulkJob'>,
): OperationResult<'insertBulkJob'> {
  const record = runSteps(database, BULK_JOB_OPERATIONS.getBulkJob([job.id]));
  if (record !== null) return { outcome: 'exists', record };
  runSteps(database, insert('bulk_jobs', BULK_JOB_COLUMNS, job));
  for (const { ids, position } of chunks) putChunk(database, { jobId: job.id, position, ids });
  return { outcome: 'inserted' };
}

export function collectBulkIds(
  database: Database,
  [
    { chunk, collectedTo, epoch, isCollected, jobId, matched },
  ]: OperationArguments<'collectBulkIds'>,
): boolean {
  const changed = database.run(
    `UPDATE bulk_jobs SET matched = ?, collectedTo = ?, isCollected = ?
      WHERE id = ? AND epoch = ? AND state = 'Running'`,
    matched,
    encodeOptional(collectedTo),
    isCollected ? 1 : 0,
    encodeText(jobId),
    epoch,
  );
  if (changed === 0) return false;
  if (chunk !== null) putChunk(database, { jobId, ...chunk });
  return true;
}

export function purgeBulkJobs(
  database: Database,
  [endedBefore, limit]: OperationArguments<'purgeBulkJobs'>,
): number {
  const ended = database.all(
    'SELECT id FROM bulk_jobs WHERE endTime < ? ORDER BY endTime, id LIMIT ?',
    endedBefore,
    limit,
  );
  for (const row of ended) {
    const id = encodeText(row.text('id'));
    database.run('DELETE FROM bulk_ids WHERE jobId = ?', id);
    database.run('DELETE FROM bulk_jobs WHERE id = ?', id);
  }
  return ended.length;
}

function putChunk(database: Database, chunk: BulkIdsRecord): void {
  const ending = 'ON CONFLICT (jobId, position) DO UPDATE SET ids = excluded.ids';
  runSteps(database, insert('bulk_ids', BULK_IDS_COLUMNS, chunk, ending));
}
