/** The fairness keys of instances, items and waits (empty: none), and the turns of each key: see records/turns.ts. */
import type { Migration } from './migration.js';

const ID = 'text COLLATE "C"';
const COLUMNS = `ADD COLUMN fairness_key ${ID} NOT NULL DEFAULT '', ADD COLUMN fairness_weight double precision NOT NULL DEFAULT 1`;

export const FAIRNESS: Migration = {
  version: 13,
  name: 'fairness',
  statements: [
    `ALTER TABLE @instances ${COLUMNS}`,
    `ALTER TABLE @activities ${COLUMNS}`,
    `ALTER TABLE @slot_waits ${COLUMNS}`,
    'DROP INDEX @activities_queue',
    'CREATE INDEX activities_queue ON @activities (name, priority, fairness_key, available_at, id) WHERE NOT done',
    `CREATE INDEX activities_keyed ON @activities (name, priority, available_at, id) WHERE NOT done AND fairness_key <> ''`,
    'CREATE INDEX slot_waits_fair ON @slot_waits (limit_name, limit_key, state, priority, fairness_key, activity_name, since, execution)',
    `CREATE INDEX instances_fair ON @instances (definition_id, concurrency_key, priority, fairness_key, counts_from, id)
       WHERE concurrency_key IS NOT NULL AND place = 'waiting' AND status IN ('Runnable', 'Suspended')`,
    `CREATE TABLE @turns (
       queue ${ID} NOT NULL, priority bigint NOT NULL, fairness_key ${ID} NOT NULL, turn double precision NOT NULL,
       present double precision NOT NULL, since bigint NOT NULL, PRIMARY KEY (queue, priority, fairness_key)
     )`,
    'CREATE INDEX turns_order ON @turns (queue, priority, turn, since, fairness_key)',
    'CREATE INDEX turns_since ON @turns (since, queue, priority, fairness_key)',
  ],
};
