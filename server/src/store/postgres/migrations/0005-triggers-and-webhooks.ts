/** Triggers, and notifications with their deliveries: see store/records/triggers.ts and notifications.ts. */
import type { Migration } from './migration.js';

const ID = 'text COLLATE "C"';

/** Every attempt changes a row twice. */
const NOTIFICATIONS = [
  `CREATE TABLE @notifications (name ${ID} PRIMARY KEY, paused text, settings text NOT NULL)`,
  `CREATE TABLE @deliveries (
     id ${ID} PRIMARY KEY, notification ${ID} NOT NULL, workflow_id ${ID}, type text NOT NULL, created_at bigint NOT NULL,
     state text NOT NULL, attempts bigint NOT NULL, due_at bigint NOT NULL, since bigint NOT NULL, ended_at bigint,
     answer text, body text NOT NULL
   ) WITH (fillfactor = 70)`,
  `CREATE INDEX deliveries_due ON @deliveries (notification, due_at, id) WHERE state = 'waiting'`,
  'CREATE INDEX deliveries_created ON @deliveries (notification, created_at, id)',
  'CREATE INDEX deliveries_state ON @deliveries (notification, state, created_at, id)',
  'CREATE INDEX deliveries_ended ON @deliveries (ended_at, id) WHERE ended_at IS NOT NULL',
];

const TRIGGERS = [
  `CREATE TABLE @triggers (
     id ${ID} PRIMARY KEY, definition_id ${ID} NOT NULL, due_at bigint, event_hash ${ID}, revision bigint NOT NULL,
     body text NOT NULL
   ) WITH (fillfactor = 70)`,
  'CREATE INDEX triggers_definition ON @triggers (definition_id, id)',
  'CREATE INDEX triggers_due ON @triggers (due_at, id) WHERE due_at IS NOT NULL',
  'CREATE INDEX triggers_event ON @triggers (event_hash, id) WHERE event_hash IS NOT NULL',
  // The trigger that started an instance.
  'ALTER TABLE @instances ADD COLUMN started_by text',
];

export const TRIGGERS_AND_WEBHOOKS: Migration = {
  version: 5,
  name: 'triggers-and-webhooks',
  statements: [...TRIGGERS, ...NOTIFICATIONS],
};
