/** Control actions on an instance: the newest entries. */
import type { OperationArguments } from '../store-operations.js';
import { AUDIT_ENTRIES_MAX, type AuditEntry } from '../records/control.js';
import type { MemoryData } from './memory-data.js';

export function appendAudit(
  data: MemoryData,
  [instanceId, entry]: OperationArguments<'appendAudit'>,
): boolean {
  if (!data.instances.has(instanceId)) return false;
  noteAction(data, instanceId, entry);
  return true;
}

export function listAudit(
  data: MemoryData,
  [instanceId]: OperationArguments<'listAudit'>,
): readonly AuditEntry[] | null {
  if (!data.instances.has(instanceId)) return null;
  return (data.actions.get(instanceId) ?? []).toReversed();
}

export function noteAction(
  data: MemoryData,
  instanceId: string,
  entry: AuditEntry | undefined,
): void {
  if (entry === undefined) return;
  const { time, actor, action, detail } = entry;
  const entries = [...(data.actions.get(instanceId) ?? []), { time, actor, action, detail }];
  data.actions.set(instanceId, entries.slice(-AUDIT_ENTRIES_MAX));
}
