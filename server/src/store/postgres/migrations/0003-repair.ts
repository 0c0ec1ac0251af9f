/**
 * Why instances failed, links between an instance and those started again from it, and how long an instance is kept. Bulk
 * jobs: see store/records/bulk-jobs.ts. The text of a definition as it was posted. What starts that joined an instance
 * answered: see joined-starts.ts.
 */
import type { Migration } from './migration.js';

const ID = 'text COLLATE "C"';

const INSTANCES = [
  `ALTER TABLE @instances ADD COLUMN restart_of ${ID}, ADD COLUMN restarted_as ${ID}, ADD COLUMN retention_ms bigint`,
  // Ended instances that are kept as long as the server says, and those whose definition says how long.
  `CREATE INDEX instances_expiring ON @instances (end_time, id)
     WHERE end_time IS NOT NULL AND retention_ms IS NULL`,
  `CREATE INDEX instances_own_retention ON @instances ((end_time + retention_ms), id)
     WHERE retention_ms IS NOT NULL AND end_time IS NOT NULL`,
];

/** The owner writes its progress often, and no index contains what it writes. */
const BULK_JOBS = [
  `CREATE TABLE @bulk_jobs (
     id ${ID} PRIMARY KEY, request_hash text, state text NOT NULL, start_time bigint NOT NULL, end_time bigint, owner text,
     epoch bigint NOT NULL, matched bigint NOT NULL, is_collected boolean NOT NULL, collected_to text,
     done bigint NOT NULL, skipped bigint NOT NULL, failed bigint NOT NULL, failures text NOT NULL, about text NOT NULL,
     task text NOT NULL
   ) WITH (fillfactor = 50)`,
  'CREATE INDEX bulk_jobs_started ON @bulk_jobs (start_time, id)',
  `CREATE INDEX bulk_jobs_running ON @bulk_jobs (start_time, id) WHERE state = 'Running'`,
  'CREATE INDEX bulk_jobs_ended ON @bulk_jobs (end_time, id) WHERE end_time IS NOT NULL',
  `CREATE TABLE @bulk_ids (
     job_id ${ID} NOT NULL, position int NOT NULL, ids text NOT NULL, PRIMARY KEY (job_id, position)
   )`,
];

/** Counting failures reads nothing but the first index. Only failed instances have entries in the second. */
const FAILURES = [
  `ALTER TABLE @instances ADD COLUMN failure_key ${ID}, ADD COLUMN failure text`,
  'DROP INDEX @instances_failed',
  `CREATE INDEX instances_failed ON @instances (error_at, id) INCLUDE (failure_key, status) WHERE error_at IS NOT NULL`,
  'CREATE INDEX instances_failure ON @instances (failure_key, start_time, id) WHERE failure_key IS NOT NULL',
];

/** What a start answered that joined an instance; see joined-starts.ts. */
const JOINED_STARTS = [
  // For the rows that are there, the default is the time of the migration; older servers insert without it.
  `ALTER TABLE @joined_starts ADD COLUMN body text,
     ADD COLUMN joined_at bigint NOT NULL DEFAULT (extract(epoch from now()) * 1000)::bigint`,
  'CREATE INDEX joined_starts_time ON @joined_starts (joined_at)',
];

export const REPAIR: Migration = {
  version: 3,
  name: 'repair',
  statements: [
    ...INSTANCES,
    ...BULK_JOBS,
    ...JOINED_STARTS,
    'ALTER TABLE @definitions ADD COLUMN source text',
    ...FAILURES,
  ],
};
