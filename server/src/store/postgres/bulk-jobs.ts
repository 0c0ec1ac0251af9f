/** Bulk jobs: operations that take one statement or transaction here, and several statements on SQLite. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { BULK_IDS_COLUMNS, BULK_JOB_COLUMNS, BULK_JOB_OPERATIONS } from '../sql/bulk-jobs.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { encodeOptional } from './instance-rows.js';
import { columnNames, Parameters, withParts } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import { runSteps } from './shared-operations.js';

export async function insertBulkJob(
  context: PostgresContext,
  [job, chunks]: OperationArguments<'insertBulkJob'>,
): Promise<OperationResult<'insertBulkJob'>> {
  const parameters = new Parameters();
  const names = columnNames(BULK_JOB_COLUMNS);
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
  const record = await runSteps(context.database, BULK_JOB_OPERATIONS.getBulkJob([job.id]));
  // It was removed in the meantime.
  return record === null ? insertBulkJob(context, [job, chunks]) : { outcome: 'exists', record };
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
