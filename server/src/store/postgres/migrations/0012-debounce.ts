/** Instances with an open window, which further starts join. */
import type { Migration } from './migration.js';

export const DEBOUNCE: Migration = {
  version: 12,
  name: 'debounce',
  statements: [
    'ALTER TABLE @instances ADD COLUMN debounce_key text',
    `CREATE INDEX instances_window ON @instances (definition_id, debounce_key)
       WHERE debounce_key IS NOT NULL AND status IN ('Runnable', 'Suspended')`,
  ],
};
