/** Instances that wait for those before them or for a place, and those that count only later for the ones that wait. */
import type { Migration } from './migration.js';

const IS_OPEN = `status IN ('Runnable', 'Suspended')`;

export const QUEUED: Migration = {
  version: 10,
  name: 'queued',
  statements: [
    `ALTER TABLE @instances ADD COLUMN queued boolean NOT NULL DEFAULT false, ADD COLUMN counts_from bigint,
       ADD COLUMN concurrency_key text, ADD COLUMN place text`,
    `CREATE INDEX instances_later ON @instances (reference, definition_id, counts_from, id)
       WHERE counts_from IS NOT NULL AND ${IS_OPEN}`,
    `CREATE INDEX instances_places ON @instances (definition_id, concurrency_key, place, queued, priority, counts_from, id)
       WHERE concurrency_key IS NOT NULL AND ${IS_OPEN}`,
    `CREATE INDEX instances_entered ON @instances (reference, definition_id, counts_from, id)
       WHERE counts_from IS NOT NULL AND (queued = TRUE OR place <> 'later') AND ${IS_OPEN}`,
    `CREATE INDEX instances_queued ON @instances (start_time, id) WHERE queued AND ${IS_OPEN}`,
  ],
};
