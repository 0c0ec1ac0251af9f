/** Bulk jobs, and the ids of their instances as one row for each chunk. */
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type { BulkJobRecord, BulkJobState, BulkJobSummary } from '../../records/bulk-jobs.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';

const SUMMARY =
  'id, requestHash, about, state, startTime, endTime, owner, epoch, matched, isCollected, done, skipped, failed';

export function insertBulkJob(
  database: Database,
  [job, chunks]: OperationArguments<'insertBulkJob'>,
): OperationResult<'insertBulkJob'> {
  const record = getBulkJob(database, [job.id]);
  if (record !== null) return { outcome: 'exists', record };
  insertBulkJobRow(database, job);
  for (const { ids, position } of chunks) putChunk(database, job.id, position, ids);
  return { outcome: 'inserted' };
}

export function insertBulkJobRow(database: Database, job: BulkJobRecord): void {
  database.run(
    `INSERT INTO bulk_jobs (${SUMMARY}, collectedTo, failures, task)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    encodeText(job.id),
    encodeOptional(job.requestHash),
    encodeText(job.about),
    job.state,
    job.startTime,
    job.endTime,
    encodeOptional(job.owner),
    job.epoch,
    job.matched,
    job.isCollected ? 1 : 0,
    job.done,
    job.skipped,
    job.failed,
    encodeOptional(job.collectedTo),
    encodeText(job.failures),
    encodeText(job.task),
  );
}

export function getBulkJob(
  database: Database,
  [id]: OperationArguments<'getBulkJob'>,
): BulkJobRecord | null {
  const row = database.get('SELECT * FROM bulk_jobs WHERE id = ?', encodeText(id));
  return row === null ? null : bulkJobOf(row);
}

export function listBulkJobs(
  database: Database,
  [after, limit]: OperationArguments<'listBulkJobs'>,
): readonly BulkJobSummary[] {
  const order = 'ORDER BY startTime DESC, id DESC LIMIT ?';
  const rows =
    after === null
      ? database.all(`SELECT ${SUMMARY} FROM bulk_jobs ${order}`, limit)
      : database.all(
          `SELECT ${SUMMARY} FROM bulk_jobs WHERE (startTime, id) < (?, ?) ${order}`,
          after.time,
          encodeText(after.id),
          limit,
        );
  return rows.map(summaryOf);
}

export function findRunningBulkJobs(
  database: Database,
  [limit]: OperationArguments<'findRunningBulkJobs'>,
): readonly BulkJobSummary[] {
  return database
    .all(
      `SELECT ${SUMMARY} FROM bulk_jobs INDEXED BY bulk_jobs_running
        WHERE state = 'Running' ORDER BY startTime, id LIMIT ?`,
      limit,
    )
    .map(summaryOf);
}

export function claimBulkJob(
  database: Database,
  [id, epoch, owner]: OperationArguments<'claimBulkJob'>,
): BulkJobRecord | null {
  const changed = database.run(
    `UPDATE bulk_jobs SET owner = ?, epoch = epoch + 1 WHERE id = ? AND epoch = ? AND state = 'Running'`,
    encodeText(owner),
    encodeText(id),
    epoch,
  );
  return changed === 0 ? null : getBulkJob(database, [id]);
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
  if (chunk !== null) putChunk(database, jobId, chunk.position, chunk.ids);
  return true;
}

export function readBulkIds(
  database: Database,
  [jobId, position]: OperationArguments<'readBulkIds'>,
): string | null {
  const row = database.get(
    'SELECT ids FROM bulk_ids WHERE jobId = ? AND position = ?',
    encodeText(jobId),
    position,
  );
  return row?.text('ids') ?? null;
}

export function saveBulkProgress(
  database: Database,
  [
    { done, endTime, epoch, failed, failures, jobId, released, skipped },
  ]: OperationArguments<'saveBulkProgress'>,
): OperationResult<'saveBulkProgress'> {
  const id = encodeText(jobId);
  const changed = database.run(
    `UPDATE bulk_jobs SET done = ?, skipped = ?, failed = ?, failures = COALESCE(?, failures),
            owner = CASE WHEN ? THEN NULL ELSE owner END
      WHERE id = ? AND epoch = ?`,
    done,
    skipped,
    failed,
    encodeOptional(failures ?? null),
    released === true ? 1 : 0,
    id,
    epoch,
  );
  if (changed === 0) return 'lost';
  if (endTime !== undefined) {
    database.run(
      `UPDATE bulk_jobs SET state = 'Done', endTime = ? WHERE id = ? AND state = 'Running'`,
      endTime,
      id,
    );
  }
  return getBulkJob(database, [jobId])?.state ?? 'lost';
}

export function stopBulkJob(
  database: Database,
  [id, at]: OperationArguments<'stopBulkJob'>,
): BulkJobRecord | null {
  database.run(
    `UPDATE bulk_jobs SET state = 'Stopped', endTime = ? WHERE id = ? AND state = 'Running'`,
    at,
    encodeText(id),
  );
  return getBulkJob(database, [id]);
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

export function putChunk(database: Database, jobId: string, position: number, ids: string): void {
  database.run(
    'INSERT OR REPLACE INTO bulk_ids (jobId, position, ids) VALUES (?, ?, ?)',
    encodeText(jobId),
    position,
    encodeText(ids),
  );
}

export function bulkJobOf(row: Row): BulkJobRecord {
  return {
    ...summaryOf(row),
    task: row.text('task'),
    collectedTo: row.textOrNull('collectedTo'),
    failures: row.text('failures'),
  };
}

function summaryOf(row: Row): BulkJobSummary {
  return {
    id: row.text('id'),
    requestHash: row.textOrNull('requestHash'),
    about: row.text('about'),
    // Only these are written.
    state: row.text('state') as BulkJobState,
    startTime: row.number('startTime'),
    endTime: row.numberOrNull('endTime'),
    owner: row.textOrNull('owner'),
    epoch: row.number('epoch'),
    matched: row.number('matched'),
    isCollected: row.boolean('isCollected'),
    done: row.number('done'),
    skipped: row.number('skipped'),
    failed: row.number('failed'),
  };
}
