/**
 * Since when an instance has been failing, and the time of the error that this belongs to: a node of an earlier version changes
 * the time of the error alone. Both are null for an error that was the first. Counting failures reads nothing but the index.
 */
import type { Migration } from './migration.js';

export const FAILING_SINCE: Migration = {
  version: 8,
  name: 'failing since',
  statements: [
    'ALTER TABLE @instances ADD COLUMN failing_since bigint, ADD COLUMN failing_error_at bigint',
    'DROP INDEX @instances_failed',
    `CREATE INDEX instances_failed ON @instances (error_at, id)
       INCLUDE (failure_key, status, failing_since, failing_error_at) WHERE error_at IS NOT NULL`,
  ],
};
