/** Control actions on an instance: the newest entries, in the instance's own row. */
import type { OperationArguments } from '../store-operations.js';
import { AUDIT_ENTRIES_MAX, type AuditEntry } from '../records/control.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { PostgresContext } from './postgres-context.js';

export async function appendAudit(
  { database }: PostgresContext,
  [instanceId, entry]: OperationArguments<'appendAudit'>,
): Promise<boolean> {
  const text = `UPDATE @instances SET audit = ${appendedAudit('audit', 'ARRAY[$2]')} WHERE id = $1`;
  const values = [encodeTextWithoutNul(instanceId), auditBodyOf(entry)];
  return (await database.execute(text, values)) > 0;
}

export async function listAudit(
  { database }: PostgresContext,
  [instanceId]: OperationArguments<'listAudit'>,
): Promise<readonly AuditEntry[] | null> {
  const [found] = await database.query('SELECT audit FROM @instances WHERE id = $1', [
    encodeTextWithoutNul(instanceId),
  ]);
  if (found === undefined) return null;
  // Written by `auditBodyOf`.
  return found
    .texts('audit')
    .toReversed()
    .map((body) => JSON.parse(body) as AuditEntry);
}

export function auditBodyOf({ action, actor, detail, time }: AuditEntry): string {
  return encodeTextWithoutNul(JSON.stringify({ time, actor, action, detail }));
}

/** An SQL expression: the entries with others appended (null: none), without the oldest beyond the limit. */
export function appendedAudit(entries: string, added: string): string {
  const all = `(${entries} || ${added}::text[])`;
  return `${all}[greatest(1, cardinality(${all}) - ${AUDIT_ENTRIES_MAX - 1}):]`;
}
