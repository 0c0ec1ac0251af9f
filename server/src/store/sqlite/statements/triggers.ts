/** Triggers of definitions. */
import type { OperationArguments } from '../../store-operations.js';
import type { TriggerRecord } from '../../records/triggers.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';

export function saveTrigger(
  database: Database,
  [trigger, expected]: OperationArguments<'saveTrigger'>,
): boolean {
  const values = [
    encodeText(trigger.definitionId),
    trigger.dueAt,
    encodeOptional(trigger.eventHash),
    trigger.revision,
    encodeText(trigger.body),
    encodeText(trigger.id),
  ];
  const changed =
    expected === null
      ? database.run(
          `INSERT INTO triggers (definitionId, dueAt, eventHash, revision, body, id) VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (id) DO NOTHING`,
          ...values,
        )
      : database.run(
          `UPDATE triggers SET definitionId = ?, dueAt = ?, eventHash = ?, revision = ?, body = ?
            WHERE id = ? AND revision = ?`,
          ...values,
          expected,
        );
  return changed > 0;
}

export function removeTrigger(
  database: Database,
  [id, revision]: OperationArguments<'removeTrigger'>,
): boolean {
  const text = 'DELETE FROM triggers WHERE id = ? AND revision = ?';
  return database.run(text, encodeText(id), revision) > 0;
}

export function getTrigger(
  database: Database,
  [id]: OperationArguments<'getTrigger'>,
): TriggerRecord | null {
  const row = database.get('SELECT * FROM triggers WHERE id = ?', encodeText(id));
  return row === null ? null : triggerOf(row);
}

export function listTriggers(
  database: Database,
  [definitionId, limit]: OperationArguments<'listTriggers'>,
): readonly TriggerRecord[] {
  const text = 'SELECT * FROM triggers WHERE definitionId = ? ORDER BY id LIMIT ?';
  return database.all(text, encodeText(definitionId), limit).map(triggerOf);
}

export function findDueTriggers(
  database: Database,
  [dueBefore, limit]: OperationArguments<'findDueTriggers'>,
): readonly TriggerRecord[] {
  return database
    .all(
      'SELECT * FROM triggers WHERE dueAt IS NOT NULL AND dueAt <= ? ORDER BY dueAt, id LIMIT ?',
      dueBefore,
      limit,
    )
    .map(triggerOf);
}

export function findEventTriggers(
  database: Database,
  [eventHash, afterId, limit]: OperationArguments<'findEventTriggers'>,
): readonly TriggerRecord[] {
  return database
    .all(
      'SELECT * FROM triggers WHERE eventHash = ? AND id > ? ORDER BY id LIMIT ?',
      encodeText(eventHash),
      encodeText(afterId ?? ''),
      limit,
    )
    .map(triggerOf);
}

export function triggerOf(row: Row): TriggerRecord {
  return {
    id: row.text('id'),
    definitionId: row.text('definitionId'),
    dueAt: row.numberOrNull('dueAt'),
    eventHash: row.textOrNull('eventHash'),
    revision: row.number('revision'),
    body: row.text('body'),
  };
}
