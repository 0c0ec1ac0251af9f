/** Webhooks and API keys: see store/records/resources.ts. */
import type { Migration } from './migration.js';

const ID = 'text COLLATE "C"';

export const RESOURCES: Migration = {
  version: 6,
  name: 'resources',
  statements: [
    `CREATE TABLE @resources (
       kind ${ID} NOT NULL, name ${ID} NOT NULL, revision bigint NOT NULL, expires_at bigint, body text NOT NULL,
       PRIMARY KEY (kind, name)
     )`,
    'CREATE INDEX resources_expired ON @resources (expires_at, kind, name) WHERE expires_at IS NOT NULL',
  ],
};
