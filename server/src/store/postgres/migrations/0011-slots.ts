/** Slots of limits: see store/records/slots.ts. Slots may be of executions that have ended, and then count for nothing. */
import type { Migration } from './migration.js';

const ID = 'text COLLATE "C"';

export const SLOTS: Migration = {
  version: 11,
  name: 'slots',
  statements: [
    'ALTER TABLE @activities ADD COLUMN needs text',
    `CREATE TABLE @slots (
       execution ${ID} NOT NULL, limit_name ${ID} NOT NULL, limit_key ${ID} NOT NULL, units bigint NOT NULL,
       instance_id ${ID} NOT NULL, is_activity boolean NOT NULL, PRIMARY KEY (execution, limit_name)
     )`,
    'CREATE INDEX slots_key ON @slots (limit_name, limit_key, instance_id)',
    'CREATE INDEX slots_instance ON @slots (instance_id)',
    `CREATE TABLE @slot_waits (
       execution ${ID} PRIMARY KEY, limit_name ${ID} NOT NULL, limit_key ${ID} NOT NULL, instance_id ${ID} NOT NULL,
       activity_name ${ID}, priority bigint NOT NULL, since bigint NOT NULL, state ${ID} NOT NULL, at double precision NOT NULL,
       needs text NOT NULL
     )`,
    'CREATE INDEX slot_waits_order ON @slot_waits (limit_name, limit_key, state, priority, since, execution)',
    'CREATE INDEX slot_waits_names ON @slot_waits (limit_name, limit_key, state, activity_name, priority, since, execution)',
    'CREATE INDEX slot_waits_instance ON @slot_waits (instance_id)',
    `CREATE TABLE @limit_rates (
       limit_name ${ID} NOT NULL, limit_key ${ID} NOT NULL, spent_until double precision NOT NULL,
       PRIMARY KEY (limit_name, limit_key)
     )`,
    'CREATE INDEX limit_rates_spent ON @limit_rates (spent_until)',
  ],
};
