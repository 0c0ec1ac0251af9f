/** Triggers of definitions. */
import type { OperationArguments } from '../store-operations.js';
import type { TriggerRecord } from '../records/triggers.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { encodeOptional } from './instance-rows.js';
import type { Columns } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

export const TRIGGER_COLUMNS: Columns<TriggerRecord> = {
  id: ['text', ({ id }) => encodeTextWithoutNul(id)],
  definition_id: ['text', ({ definitionId }) => encodeTextWithoutNul(definitionId)],
  due_at: ['bigint', ({ dueAt }) => dueAt],
  event_hash: ['text', ({ eventHash }) => encodeOptional(eventHash)],
  revision: ['bigint', ({ revision }) => revision],
  body: ['text', ({ body }) => encodeTextWithoutNul(body)],
};

export async function saveTrigger(
  { database }: PostgresContext,
  [trigger, expected]: OperationArguments<'saveTrigger'>,
): Promise<boolean> {
  const values = Object.values(TRIGGER_COLUMNS).map(([, cellOf]) => cellOf(trigger));
  const changed =
    expected === null
      ? await database.execute(
          `INSERT INTO @triggers (id, definition_id, due_at, event_hash, revision, body)
           VALUES ($1, $2, $3::bigint, $4, $5::bigint, $6) ON CONFLICT (id) DO NOTHING`,
          values,
        )
      : await database.execute(
          `UPDATE @triggers SET definition_id = $2, due_at = $3::bigint, event_hash = $4, revision = $5::bigint, body = $6
            WHERE id = $1 AND revision = $7::bigint`,
          [...values, expected],
        );
  return changed > 0;
}

export async function removeTrigger(
  { database }: PostgresContext,
  [id, revision]: OperationArguments<'removeTrigger'>,
): Promise<boolean> {
  const text = 'DELETE FROM @triggers WHERE id = $1 AND revision = $2::bigint';
  return (await database.execute(text, [encodeTextWithoutNul(id), revision])) > 0;
}

export async function getTrigger(
  { database }: PostgresContext,
  [id]: OperationArguments<'getTrigger'>,
): Promise<TriggerRecord | null> {
  const text = 'SELECT * FROM @triggers WHERE id = $1';
  const [row] = await database.query(text, [encodeTextWithoutNul(id)]);
  return row === undefined ? null : triggerOf(row);
}

export async function listTriggers(
  { database }: PostgresContext,
  [definitionId, limit]: OperationArguments<'listTriggers'>,
): Promise<readonly TriggerRecord[]> {
  const rows = await database.query(
    'SELECT * FROM @triggers WHERE definition_id = $1 ORDER BY id LIMIT $2::bigint',
    [encodeTextWithoutNul(definitionId), limit],
  );
  return rows.map(triggerOf);
}

export async function findDueTriggers(
  { database }: PostgresContext,
  [dueBefore, limit]: OperationArguments<'findDueTriggers'>,
): Promise<readonly TriggerRecord[]> {
  const rows = await database.query(
    `SELECT * FROM @triggers WHERE due_at IS NOT NULL AND due_at <= $1::bigint
      ORDER BY due_at, id LIMIT $2::bigint`,
    [dueBefore, limit],
  );
  return rows.map(triggerOf);
}

export async function findEventTriggers(
  { database }: PostgresContext,
  [eventHash, afterId, limit]: OperationArguments<'findEventTriggers'>,
): Promise<readonly TriggerRecord[]> {
  const rows = await database.query(
    'SELECT * FROM @triggers WHERE event_hash = $1 AND id > $2 ORDER BY id LIMIT $3::bigint',
    [encodeTextWithoutNul(eventHash), encodeTextWithoutNul(afterId ?? ''), limit],
  );
  return rows.map(triggerOf);
}

export function triggerOf(row: Row): TriggerRecord {
  return {
    id: row.text('id'),
    definitionId: row.text('definition_id'),
    dueAt: row.numberOrNull('due_at'),
    eventHash: row.textOrNull('event_hash'),
    revision: row.number('revision'),
    body: row.text('body'),
  };
}
