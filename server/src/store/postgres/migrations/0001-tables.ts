/**
 * The first tables.
 *
 * Every pass writes to `instances`. None of its indexes contains a column that changes with every commit, so that most
 * updates are HOT: they stay in the page of the row (`fillfactor`) and touch no index.
 *  - `wakes` serves the scans: a narrow row for each instance that is due at some time or has work in progress.
 *  - `change_span` is `last_change_at` in steps of 8 s, by which indexes find instances that changed recently or long ago.
 *
 * Ids and names sort by code points (`COLLATE "C"`), as in the other stores. Long texts come last in their rows.
 */
import type { Migration } from './migration.js';

const ID = 'text COLLATE "C"';

const INSTANCES = [
  `CREATE TABLE @instances (
     id ${ID} PRIMARY KEY, definition_id ${ID} NOT NULL, version int NOT NULL, reference ${ID},
     status ${ID} NOT NULL, start_time bigint NOT NULL, end_time bigint, outcome ${ID}, parent_id ${ID}, root_id ${ID},
     last_change_at bigint NOT NULL, change_span bigint GENERATED ALWAYS AS (last_change_at / 8000) STORED,
     error_at bigint, wake_at bigint, owner ${ID}, epoch bigint NOT NULL, in_seq bigint NOT NULL,
     revision bigint NOT NULL, under_way boolean NOT NULL, crashes int NOT NULL, schema_version int NOT NULL,
     request_hash ${ID}, inbox_ids text[] NOT NULL DEFAULT '{}', inbox_bodies text[] NOT NULL DEFAULT '{}',
     inbox_bytes bigint NOT NULL DEFAULT 0, audit text[], state text NOT NULL
   ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)`,
  'CREATE INDEX instances_started ON @instances (start_time, id)',
  'CREATE INDEX instances_roots ON @instances (start_time, id) WHERE parent_id IS NULL',
  'CREATE INDEX instances_parent ON @instances (parent_id, start_time, id) WHERE parent_id IS NOT NULL',
  `CREATE INDEX instances_open_root ON @instances (root_id)
     WHERE root_id IS NOT NULL AND status IN ('Runnable', 'Suspended')`,
  // Most instances succeed. They are found by their status, so that the end of each updates one index less.
  `CREATE INDEX instances_outcome ON @instances (outcome, start_time, id) WHERE outcome <> 'Succeeded'`,
  'CREATE INDEX instances_status ON @instances (status, start_time, id)',
  'CREATE INDEX instances_definition ON @instances (definition_id, start_time, id)',
  'CREATE INDEX instances_definition_status ON @instances (definition_id, status, start_time, id)',
  'CREATE INDEX instances_reference ON @instances (reference, start_time, id) WHERE reference IS NOT NULL',
  `CREATE INDEX instances_changed ON @instances (owner, change_span) WHERE status = 'Runnable'`,
  `CREATE INDEX instances_unchanged ON @instances (change_span) WHERE status IN ('Runnable', 'Suspended')`,
  'CREATE INDEX instances_ended ON @instances (end_time, id) WHERE end_time IS NOT NULL',
  'CREATE INDEX instances_failed ON @instances (error_at, id) WHERE error_at IS NOT NULL',
  // `wake_at` is null if the row exists only because of work in progress.
  `CREATE TABLE @wakes (
     id ${ID} PRIMARY KEY, owner ${ID}, wake_at bigint, under_way boolean NOT NULL
   ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200)`,
  'CREATE INDEX wakes_due ON @wakes (wake_at, id) WHERE wake_at IS NOT NULL',
  'CREATE INDEX wakes_under_way ON @wakes (owner, id) WHERE under_way',
  `CREATE TABLE @history (
     instance_id ${ID} NOT NULL, sequence int NOT NULL, body text NOT NULL, PRIMARY KEY (instance_id, sequence)
   )`,
];

const DEFINITIONS = [
  `CREATE TABLE @definitions (
     id ${ID} NOT NULL, version int NOT NULL, description text, created_at bigint NOT NULL, body text NOT NULL,
     PRIMARY KEY (id, version)
   )`,
  `CREATE TABLE @definition_stamps (
     id ${ID} PRIMARY KEY, request_hash text NOT NULL, definition_id ${ID} NOT NULL, version int NOT NULL
   )`,
  `CREATE TABLE @step_scripts (
     name ${ID} NOT NULL, version int NOT NULL, created_at bigint NOT NULL, source text NOT NULL,
     PRIMARY KEY (name, version)
   )`,
];

const EVENTS = [
  `CREATE TABLE @subscriptions (
     id ${ID} PRIMARY KEY, instance_id ${ID} NOT NULL, name_key ${ID} NOT NULL, effective_at bigint NOT NULL
   )`,
  'CREATE INDEX subscriptions_name ON @subscriptions (name_key, id)',
  'CREATE INDEX subscriptions_instance ON @subscriptions (instance_id)',
  `CREATE TABLE @events (
     id ${ID} PRIMARY KEY, name_key ${ID} NOT NULL, name text NOT NULL, key text NOT NULL, published_at bigint NOT NULL,
     delivered_to int, taken_by text[], request_hash text, data text NOT NULL
   )`,
  'CREATE INDEX events_name ON @events (name_key, published_at, id)',
  'CREATE INDEX events_undelivered ON @events (published_at, id) WHERE delivered_to IS NULL',
  'CREATE INDEX events_delivered ON @events (published_at, id) WHERE delivered_to IS NOT NULL',
];

/** Activities that are settled and not done are withdrawn; those that are done and have no result were removed after that. */
const ACTIVITIES = [
  `CREATE TABLE @activities (
     id ${ID} PRIMARY KEY, instance_id ${ID} NOT NULL, name ${ID} NOT NULL, created_at bigint NOT NULL,
     available_at bigint NOT NULL, deferred boolean NOT NULL, attempt int NOT NULL, token_hash ${ID}, worker_id text,
     done boolean NOT NULL, done_at bigint, settled boolean NOT NULL, succeeded boolean, result_hash text,
     parameters text NOT NULL, result_data text
   ) WITH (autovacuum_vacuum_scale_factor = 0.05)`,
  'CREATE INDEX activities_queue ON @activities (name, available_at, id) WHERE NOT done',
  'CREATE INDEX activities_instance ON @activities (instance_id)',
  'CREATE INDEX activities_unsettled ON @activities (done_at, id) WHERE done AND NOT settled',
  'CREATE INDEX activities_settled ON @activities (done_at, id) WHERE settled',
];

const NODES = [
  `CREATE TABLE @nodes (
     id ${ID} PRIMARY KEY, beat_at bigint NOT NULL, url text NOT NULL, version text NOT NULL, hostname text NOT NULL,
     pid int NOT NULL, details text
   ) WITH (fillfactor = 50)`,
  'CREATE TABLE @probes (id text PRIMARY KEY, round int NOT NULL, wins int NOT NULL)',
];

/** lz4 compresses several times faster than the default, but a server may have been built without it. */
const COMPRESSION = `DO $$ BEGIN
  ALTER TABLE @instances ALTER COLUMN state SET COMPRESSION lz4, ALTER COLUMN inbox_bodies SET COMPRESSION lz4;
  ALTER TABLE @history ALTER COLUMN body SET COMPRESSION lz4;
  ALTER TABLE @definitions ALTER COLUMN body SET COMPRESSION lz4;
  ALTER TABLE @events ALTER COLUMN data SET COMPRESSION lz4;
  ALTER TABLE @activities ALTER COLUMN parameters SET COMPRESSION lz4, ALTER COLUMN result_data SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL; END $$`;

export const TABLES: Migration = {
  version: 1,
  name: 'tables',
  statements: [...DEFINITIONS, ...INSTANCES, ...EVENTS, ...ACTIVITIES, ...NODES, COMPRESSION],
};
