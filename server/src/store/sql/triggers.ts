/** Triggers of definitions. */
import type { TriggerRecord } from '../records/triggers.js';
import { columnsOf, readRecord, type RecordColumns } from './columns.js';
import { change, saveRevision, select, selectOne, type SqlOperations } from './statements.js';
import type { StoredRow } from './stored-row.js';

const RECORD: RecordColumns<TriggerRecord> = {
  id: 'text',
  definitionId: 'text',
  dueAt: 'number?',
  eventHash: 'text?',
  revision: 'number',
  body: 'text',
};

export const TRIGGER_COLUMNS = columnsOf(RECORD);

export const TRIGGER_OPERATIONS = {
  *saveTrigger([trigger, expected]) {
    return yield* saveRevision('triggers', TRIGGER_COLUMNS, {
      keys: ['id'],
      item: trigger,
      expected,
    });
  },

  *removeTrigger([id, revision]) {
    const text = 'DELETE FROM @triggers WHERE id = ? AND revision = ?';
    return (yield* change(text, id, revision)) > 0;
  },

  *getTrigger([id]) {
    const row = yield* selectOne('SELECT * FROM @triggers WHERE id = ?', id);
    return row === null ? null : triggerOf(row);
  },

  *listTriggers([definitionId, limit]) {
    const text = 'SELECT * FROM @triggers WHERE definitionId = ? ORDER BY id LIMIT ?';
    return (yield* select(text, definitionId, limit)).map(triggerOf);
  },

  *findDueTriggers([dueBefore, limit]) {
    const text = `SELECT * FROM @triggers WHERE dueAt IS NOT NULL AND dueAt <= ? ORDER BY dueAt, id LIMIT ?`;
    return (yield* select(text, dueBefore, limit)).map(triggerOf);
  },

  *findEventTriggers([eventHash, afterId, limit]) {
    const text = 'SELECT * FROM @triggers WHERE eventHash = ? AND id > ? ORDER BY id LIMIT ?';
    return (yield* select(text, eventHash, afterId ?? '', limit)).map(triggerOf);
  },
} satisfies SqlOperations;

export function triggerOf(row: StoredRow): TriggerRecord {
  return readRecord(row, RECORD);
}
