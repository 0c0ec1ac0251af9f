/**
 * Tags and index fields, and the terms by which instances are found: see index-terms.ts. Terms are rows of their own, so that
 * updates of instances stay HOT.
 */
import type { Migration } from './migration.js';

export const SEARCH: Migration = {
  version: 2,
  name: 'search',
  statements: [
    'ALTER TABLE @instances ADD COLUMN tags text, ADD COLUMN fields text',
    `CREATE TABLE @terms (
       name text COLLATE "C" NOT NULL, value text COLLATE "C" NOT NULL, start_time bigint NOT NULL,
       instance_id text COLLATE "C" NOT NULL, PRIMARY KEY (name, value, start_time, instance_id)
     )`,
  ],
};
