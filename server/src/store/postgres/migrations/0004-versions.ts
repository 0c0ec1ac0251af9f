/** Lists of the instances of one version of a definition. Starts with a key exclude each other: see key-locks.ts. */
import type { Migration } from './migration.js';

export const VERSIONS: Migration = {
  version: 4,
  name: 'versions',
  statements: [
    'CREATE INDEX instances_version ON @instances (definition_id, version, start_time, id)',
    // The server parses this body when it creates the function, so that it stays valid when the schema is renamed.
    `CREATE FUNCTION @is_joined(start_id text) RETURNS boolean LANGUAGE sql VOLATILE
BEGIN ATOMIC
  SELECT EXISTS (SELECT FROM @joined_starts WHERE id = start_id COLLATE "C");
END`,
  ],
};
