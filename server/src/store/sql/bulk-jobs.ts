/** Bulk jobs, and the ids of their instances as one row for each chunk. */
import type {
  BulkIdsRecord,
  BulkJobRecord,
  BulkJobState,
  BulkJobSummary,
} from '../records/bulk-jobs.js';
import { columnsOf, namesOf, readRecord, type RecordColumns } from './columns.js';
import { change, select, selectOne, type SqlOperations, type SqlSteps } from './statements.js';
import type { StoredRow } from './stored-row.js';

const SUMMARY: RecordColumns<BulkJobSummary> = {
  id: 'text',
  requestHash: 'text?',
  about: 'text',
  state: 'text',
  startTime: 'number',
  endTime: 'number?',
  owner: 'text?',
  epoch: 'number',
  matched: 'number',
  isCollected: 'boolean',
  done: 'number',
  skipped: 'number',
  failed: 'number',
};

const JOB: RecordColumns<BulkJobRecord> = {
  ...SUMMARY,
  collectedTo: 'text?',
  failures: 'text',
  task: 'text',
};

const IDS: RecordColumns<BulkIdsRecord> = { jobId: 'text', position: 'number', ids: 'text' };

const SUMMARY_NAMES = namesOf(SUMMARY);

export const BULK_JOB_COLUMNS = columnsOf(JOB);
export const BULK_IDS_COLUMNS = columnsOf(IDS);

export const BULK_JOB_OPERATIONS = {
  getBulkJob: ([id]) => readJob(id),

  *listBulkJobs([after, limit]) {
    const isBeyond = after === null ? '' : 'WHERE (startTime, id) < (?, ?)';
    const rows = yield* select(
      `SELECT ${SUMMARY_NAMES} FROM @bulk_jobs ${isBeyond} ORDER BY startTime DESC, id DESC LIMIT ?`,
      ...(after === null ? [] : [after.time, after.id]),
      limit,
    );
    return rows.map(summaryOf);
  },

  *findRunningBulkJobs([limit]) {
    const rows = yield* select(
      `SELECT ${SUMMARY_NAMES} FROM @bulk_jobs INDEXED BY bulk_jobs_running
        WHERE state = 'Running' ORDER BY startTime, id LIMIT ?`,
      limit,
    );
    return rows.map(summaryOf);
  },

  *claimBulkJob([id, epoch, owner]) {
    const text = `UPDATE @bulk_jobs SET owner = ?, epoch = epoch + 1
                   WHERE id = ? AND epoch = ? AND state = 'Running' RETURNING *`;
    const row = yield* selectOne(text, owner, id, epoch);
    return row === null ? null : bulkJobOf(row);
  },

  *readBulkIds([jobId, position]) {
    const text = 'SELECT ids FROM @bulk_ids WHERE jobId = ? AND position = ?';
    return (yield* selectOne(text, jobId, position))?.text('ids') ?? null;
  },

  *saveBulkProgress([{ done, endTime = null, epoch, failed, failures, jobId, released, skipped }]) {
    const row = yield* selectOne(
      `UPDATE @bulk_jobs SET done = ?, skipped = ?, failed = ?, failures = coalesce(?, failures),
              owner = CASE WHEN ? THEN NULL ELSE owner END,
              endTime = CASE WHEN state = 'Running' THEN ? ELSE endTime END,
              state = CASE WHEN state = 'Running' AND ?::bigint IS NOT NULL THEN 'Done' ELSE state END
        WHERE id = ? AND epoch = ? RETURNING state`,
      done,
      skipped,
      failed,
      failures ?? null,
      released === true,
      endTime,
      endTime,
      jobId,
      epoch,
    );
    // Only these are written.
    return row === null ? 'lost' : (row.text('state') as BulkJobState);
  },

  *stopBulkJob([id, at]) {
    const text = `UPDATE @bulk_jobs SET state = 'Stopped', endTime = ? WHERE id = ? AND state = 'Running'`;
    yield* change(text, at, id);
    return yield* readJob(id);
  },
} satisfies SqlOperations;

function* readJob(id: string): SqlSteps<BulkJobRecord | null> {
  const row = yield* selectOne('SELECT * FROM @bulk_jobs WHERE id = ?', id);
  return row === null ? null : bulkJobOf(row);
}

export function bulkJobOf(row: StoredRow): BulkJobRecord {
  return readRecord(row, JOB);
}

export function bulkIdsOf(row: StoredRow): BulkIdsRecord {
  return readRecord(row, IDS);
}

function summaryOf(row: StoredRow): BulkJobSummary {
  return readRecord(row, SUMMARY);
}
