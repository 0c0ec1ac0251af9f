/** Control actions on an instance: the newest entries, as rows. */
import type { OperationArguments } from '../../store-operations.js';
import { AUDIT_ENTRIES_MAX, type AuditEntry } from '../../records/control.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';

export function appendAudit(
  database: Database,
  [instanceId, entry]: OperationArguments<'appendAudit'>,
): boolean {
  if (!hasInstance(database, instanceId)) return false;
  noteAction(database, instanceId, entry);
  return true;
}

export function listAudit(
  database: Database,
  [instanceId]: OperationArguments<'listAudit'>,
): readonly AuditEntry[] | null {
  if (!hasInstance(database, instanceId)) return null;
  return database
    .all(
      'SELECT body FROM actions WHERE instanceId = ? ORDER BY sequence DESC LIMIT ?',
      encodeText(instanceId),
      AUDIT_ENTRIES_MAX,
    )
    .map((row) => JSON.parse(row.text('body')) as AuditEntry); // Written by `noteAction`.
}

/** Runs in the transaction that performs the recorded action. */
export function noteAction(
  database: Database,
  instanceId: string,
  entry: AuditEntry | undefined,
): void {
  if (entry === undefined) return;
  const id = encodeText(instanceId);
  const last = database.get('SELECT MAX(sequence) AS n FROM actions WHERE instanceId = ?', id);
  const sequence = (last?.numberOrNull('n') ?? 0) + 1;
  const { time, actor, action, detail } = entry;
  database.run(
    'INSERT INTO actions (instanceId, sequence, body) VALUES (?, ?, ?)',
    id,
    sequence,
    encodeText(JSON.stringify({ time, actor, action, detail })),
  );
  database.run(
    'DELETE FROM actions WHERE instanceId = ? AND sequence <= ?',
    id,
    sequence - AUDIT_ENTRIES_MAX,
  );
}

function hasInstance(database: Database, id: string): boolean {
  return database.get('SELECT 1 AS found FROM instances WHERE id = ?', encodeText(id)) !== null;
}
