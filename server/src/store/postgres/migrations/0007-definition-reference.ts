/** By this index a start finds the instances with its reference that are kept, open or not. */
import type { Migration } from './migration.js';

export const DEFINITION_REFERENCE: Migration = {
  version: 7,
  name: 'definition and reference',
  statements: [
    'CREATE INDEX instances_definition_reference ON @instances (reference, definition_id, start_time, id) WHERE reference IS NOT NULL',
  ],
};
