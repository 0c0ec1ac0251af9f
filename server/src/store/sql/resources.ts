/** Resources: webhooks, API keys and other settings, and records that expire. */
import type { ResourceRecord } from '../records/resources.js';
import { columnsOf, readRecord, type RecordColumns } from './columns.js';
import { change, saveRevision, select, selectOne, type SqlOperations } from './statements.js';
import type { StoredRow } from './stored-row.js';

const RECORD: RecordColumns<ResourceRecord> = {
  kind: 'text',
  name: 'text',
  revision: 'number',
  expiresAt: 'number?',
  body: 'text',
};

export const RESOURCE_COLUMNS = columnsOf(RECORD);

export const RESOURCE_OPERATIONS = {
  *saveResource([resource, expected]) {
    const revision = { keys: ['kind', 'name'], item: resource, expected };
    return yield* saveRevision('resources', RESOURCE_COLUMNS, revision);
  },

  *removeResource([kind, name]) {
    const text = 'DELETE FROM @resources WHERE kind = ? AND name = ?';
    return (yield* change(text, kind, name)) > 0;
  },

  *getResource([kind, name]) {
    const text = 'SELECT * FROM @resources WHERE kind = ? AND name = ?';
    const row = yield* selectOne(text, kind, name);
    return row === null ? null : resourceOf(row);
  },

  *listResources([kind, afterName, limit]) {
    const text = 'SELECT * FROM @resources WHERE kind = ? AND name > ? ORDER BY name LIMIT ?';
    const rows = yield* select(text, kind, afterName ?? '', limit);
    return rows.map(resourceOf);
  },
} satisfies SqlOperations;

export function resourceOf(row: StoredRow): ResourceRecord {
  return readRecord(row, RECORD);
}
