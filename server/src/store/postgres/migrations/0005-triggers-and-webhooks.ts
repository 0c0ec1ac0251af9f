/** Notifications and their deliveries: see store/records/notifications.ts. */
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

export const TRIGGERS_AND_WEBHOOKS: Migration = {
  version: 5,
  name: 'triggers-and-webhooks',
  statements: [...NOTIFICATIONS],
};
