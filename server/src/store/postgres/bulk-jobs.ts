/** Bulk jobs, and the ids of their instances as one row for each chunk. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type {
  BulkIdsRecord,
  BulkJobRecord,
  BulkJobState,
  BulkJobSummary,
} from '../records/bulk-jobs.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { encodeOptional } from './instance-rows.js';
import { type Columns, Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

const SUMMARY =
  'id, request_hash, about, state, start_time, end_time, owner, epoch, matched, is_collected, done, skipped, failed';

export const BULK_JOB_COLUMNS: Columns<BulkJobRecord> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  request_hash: ['text', ({ requestHash }) => encodeOptional(requestHash)],
  about: ['text', ({ about }) => encodeTextWithoutNul(about)],
  state: ['text', ({ state }) => state],
  start_time: ['bigint', ({ startTime }) => startTime],
  end_time: ['bigint', ({ endTime }) => endTime],
  owner: ['text', ({ owner }) => encodeOptional(owner)],
  epoch: ['bigint', ({ epoch }) => epoch],
  matched: ['bigint', ({ matched }) => matched],
  is_collected: ['boolean', ({ isCollected }) => isCollected],
  done: ['bigint', ({ done }) => done],
  skipped: ['bigint', ({ skipped }) => skipped],
  failed: ['bigint', ({ failed }) => failed],
  collected_to: ['text', ({ collectedTo }) => encodeOptional(collectedTo)],
  failures: ['text', ({ failures }) => encodeTextWithoutNul(failures)],
  task: ['text', ({ task }) => encodeTextWithoutNul(task)],
};

export const BULK_IDS_COLUMNS: Columns<BulkIdsRecord> = {
  job_id: ['text', ({ jobId }) => encodeTextWithoutNul(jobId)],
  position: ['bigint', ({ position }) => position],
  ids: ['text', ({ ids }) => encodeTextWithoutNul(ids)],
};

export async function insertBulkJob(
  context: PostgresContext,
  [job, chunks]: OperationArguments<'insertBulkJob'>,
): Promise<OperationResult<'insertBulkJob'>> {
  const parameters = new Parameters();
  const names = Object.keys(BULK_JOB_COLUMNS).join(', ');
  const jobs = parameters.rows('job', [job], BULK_JOB_COLUMNS);
  const records = chunks.map(({ ids, position }) => ({ jobId: job.id, position, ids }));
  const ids = parameters.rows('chunk', records, BULK_IDS_COLUMNS);
  const text = withParts(
    [
      `inserted AS (INSERT INTO @bulk_jobs (${names}) SELECT ${names} FROM ${jobs} ON CONFLICT (id) DO NOTHING RETURNING id)`,
      `ids AS (INSERT INTO @bulk_ids (job_id, position, ids)
                SELECT job_id, position, ids FROM ${ids} WHERE EXISTS (SELECT FROM inserted))`,
    ],
    'SELECT id FROM inserted',
  );
  const rows = await context.database.query(text, parameters.values);
  if (rows.length > 0) return { outcome: 'inserted' };
  const record = await getBulkJob(context, [job.id]);
  // It was removed in the meantime.
  return record === null ? insertBulkJob(context, [job, chunks]) : { outcome: 'exists', record };
}

export async function getBulkJob(
  { database }: Pick<PostgresContext, 'database'>,
  [id]: OperationArguments<'getBulkJob'>,
): Promise<BulkJobRecord | null> {
  const [row] = await database.query('SELECT * FROM @bulk_jobs WHERE id = $1', [
    encodeTextWithoutNul(id),
  ]);
  return row === undefined ? null : bulkJobOf(row);
}

export async function listBulkJobs(
  { database }: PostgresContext,
  [after, limit]: OperationArguments<'listBulkJobs'>,
): Promise<readonly BulkJobSummary[]> {
  const order = 'ORDER BY start_time DESC, id DESC LIMIT $1::bigint';
  const rows =
    after === null
      ? await database.query(`SELECT ${SUMMARY} FROM @bulk_jobs ${order}`, [limit])
      : await database.query(
          `SELECT ${SUMMARY} FROM @bulk_jobs WHERE (start_time, id) < ($2::bigint, $3) ${order}`,
          [limit, after.time, encodeTextWithoutNul(after.id)],
        );
  return rows.map(summaryOf);
}

export async function findRunningBulkJobs(
  { database }: PostgresContext,
  [limit]: OperationArguments<'findRunningBulkJobs'>,
): Promise<readonly BulkJobSummary[]> {
  const rows = await database.query(
    `SELECT ${SUMMARY} FROM @bulk_jobs WHERE state = 'Running' ORDER BY start_time, id LIMIT $1::bigint`,
    [limit],
  );
  return rows.map(summaryOf);
}

export async function claimBulkJob(
  { database }: PostgresContext,
  [id, epoch, owner]: OperationArguments<'claimBulkJob'>,
): Promise<BulkJobRecord | null> {
  const [row] = await database.query(
    `UPDATE @bulk_jobs SET owner = $3, epoch = epoch + 1
      WHERE id = $1 AND epoch = $2::bigint AND state = 'Running' RETURNING *`,
    [encodeTextWithoutNul(id), epoch, encodeTextWithoutNul(owner)],
  );
  return row === undefined ? null : bulkJobOf(row);
}

export async function collectBulkIds(
  { database }: PostgresContext,
  [
    { chunk, collectedTo, epoch, isCollected, jobId, matched },
  ]: OperationArguments<'collectBulkIds'>,
): Promise<boolean> {
  const [row] = await database.query(
    `WITH owned AS (
       UPDATE @bulk_jobs SET matched = $3::bigint, collected_to = $4, is_collected = $5
        WHERE id = $1 AND epoch = $2::bigint AND state = 'Running' RETURNING id
     ), stored AS (
       INSERT INTO @bulk_ids (job_id, position, ids) SELECT id, $6::int, $7::text FROM owned WHERE $7::text IS NOT NULL
           ON CONFLICT (job_id, position) DO UPDATE SET ids = excluded.ids
     )
     SELECT id FROM owned`,
    [
      encodeTextWithoutNul(jobId),
      epoch,
      matched,
      encodeOptional(collectedTo),
      isCollected,
      chunk?.position ?? 0,
      encodeOptional(chunk?.ids ?? null),
    ],
  );
  return row !== undefined;
}

export async function readBulkIds(
  { database }: PostgresContext,
  [jobId, position]: OperationArguments<'readBulkIds'>,
): Promise<string | null> {
  const [row] = await database.query(
    'SELECT ids FROM @bulk_ids WHERE job_id = $1 AND position = $2::int',
    [encodeTextWithoutNul(jobId), position],
  );
  return row?.text('ids') ?? null;
}

export async function saveBulkProgress(
  { database }: PostgresContext,
  [
    { done, endTime, epoch, failed, failures, jobId, released, skipped },
  ]: OperationArguments<'saveBulkProgress'>,
): Promise<OperationResult<'saveBulkProgress'>> {
  const [row] = await database.query(
    `UPDATE @bulk_jobs SET done = $3::bigint, skipped = $4::bigint, failed = $5::bigint,
            failures = coalesce($6, failures), owner = CASE WHEN $7::boolean THEN NULL ELSE owner END,
            end_time = CASE WHEN state = 'Running' THEN $8::bigint ELSE end_time END,
            state = CASE WHEN state = 'Running' AND $8::bigint IS NOT NULL THEN 'Done' ELSE state END
      WHERE id = $1 AND epoch = $2::bigint RETURNING state`,
    [
      encodeTextWithoutNul(jobId),
      epoch,
      done,
      skipped,
      failed,
      encodeOptional(failures ?? null),
      released === true,
      endTime ?? null,
    ],
  );
  return row === undefined ? 'lost' : stateOf(row);
}

export async function stopBulkJob(
  { database }: PostgresContext,
  [id, at]: OperationArguments<'stopBulkJob'>,
): Promise<BulkJobRecord | null> {
  await database.execute(
    `UPDATE @bulk_jobs SET state = 'Stopped', end_time = $2::bigint WHERE id = $1 AND state = 'Running'`,
    [encodeTextWithoutNul(id), at],
  );
  return getBulkJob({ database }, [id]);
}

export async function purgeBulkJobs(
  { database }: PostgresContext,
  [endedBefore, limit]: OperationArguments<'purgeBulkJobs'>,
): Promise<number> {
  return database.transaction(async (statements) => {
    const removed = await statements.query(
      `DELETE FROM @bulk_jobs WHERE id = ANY (ARRAY(
         SELECT id FROM @bulk_jobs WHERE end_time < $1::bigint ORDER BY end_time, id LIMIT $2::bigint
            FOR UPDATE SKIP LOCKED)) RETURNING id`,
      [endedBefore, limit],
    );
    const ids = removed.map((row) => encodeTextWithoutNul(row.text('id')));
    await statements.execute('DELETE FROM @bulk_ids WHERE job_id = ANY($1::text[])', [ids]);
    return removed.length;
  });
}

export function bulkJobOf(row: Row): BulkJobRecord {
  return {
    ...summaryOf(row),
    task: row.text('task'),
    collectedTo: row.textOrNull('collected_to'),
    failures: row.text('failures'),
  };
}

export function bulkIdsOf(row: Row): BulkIdsRecord {
  return { jobId: row.text('job_id'), position: row.number('position'), ids: row.text('ids') };
}

function summaryOf(row: Row): BulkJobSummary {
  return {
    id: row.text('id'),
    requestHash: row.textOrNull('request_hash'),
    about: row.text('about'),
    state: stateOf(row),
    startTime: row.number('start_time'),
    endTime: row.numberOrNull('end_time'),
    owner: row.textOrNull('owner'),
    epoch: row.number('epoch'),
    matched: row.number('matched'),
    isCollected: row.boolean('is_collected'),
    done: row.number('done'),
    skipped: row.number('skipped'),
    failed: row.number('failed'),
  };
}

/** Only these are written. */
function stateOf(row: Row): BulkJobState {
  return row.text('state') as BulkJobState;
}
