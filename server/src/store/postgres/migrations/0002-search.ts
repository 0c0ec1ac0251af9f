/**
 * What starts keep: their input, the ids of starts that joined an instance, and which definitions are disabled.
 *
 * Tags and index fields, and the terms by which instances are found: see index-terms.ts. Terms are rows of their own, so that
 * updates of instances stay HOT.
 */
import type { Migration } from './migration.js';

const ID = 'text COLLATE "C"';

/** The input doesn't change, so a commit copies a long one only by reference. */
const STARTS = [
  'ALTER TABLE @instances ADD COLUMN input text',
  `DO $$ BEGIN
  ALTER TABLE @instances ALTER COLUMN input SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL; END $$`,
  `CREATE INDEX instances_open_reference ON @instances (reference, definition_id, start_time, id)
     WHERE reference IS NOT NULL AND status IN ('Runnable', 'Suspended')`,
  `CREATE TABLE @joined_starts (id ${ID} PRIMARY KEY, request_hash text NOT NULL, instance_id ${ID} NOT NULL)`,
  'CREATE INDEX joined_starts_instance ON @joined_starts (instance_id)',
  `CREATE TABLE @disabled_definitions (id ${ID} PRIMARY KEY)`,
];

export const SEARCH: Migration = {
  version: 2,
  name: 'search',
  statements: [
    'ALTER TABLE @instances ADD COLUMN tags text, ADD COLUMN fields text',
    `CREATE TABLE @terms (
       name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, start_time bigint NOT NULL,
       instance_id text COLLATE "C" NOT NULL, PRIMARY KEY (name, value, start_time, instance_id)
     )`,
    ...STARTS,
  ],
};
