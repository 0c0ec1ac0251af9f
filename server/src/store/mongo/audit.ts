/** Control actions on an instance: the newest entries, in the instance's own document. */
import type { OperationArguments } from '../operations.js';
import { AUDIT_ENTRIES_MAX, type AuditEntry } from '../records/control.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { AuditDocument } from './collections.js';
import type { MongoContext } from './mongo-context.js';
import { decodeOptional, encodeOptional } from './packed-text.js';

export async function appendAudit(
  { instances }: MongoContext,
  [instanceId, entry]: OperationArguments<'appendAudit'>,
): Promise<boolean> {
  const update = { $push: auditPush(entry) };
  const { matchedCount } = await instances.updateOne({ _id: encodeText(instanceId) }, update);
  return matchedCount > 0;
}

export async function listAudit(
  { instances }: MongoContext,
  [instanceId]: OperationArguments<'listAudit'>,
): Promise<readonly AuditEntry[] | null> {
  const found = await instances.findOne(
    { _id: encodeText(instanceId) },
    { projection: { audit: 1 } },
  );
  if (found === null) return null;
  return (found.audit ?? []).toReversed().map(auditEntryOf);
}

/** The part of the update that records the action: its `$push`. Empty without an entry. */
export function auditPush(entry: AuditEntry | undefined): {
  readonly audit?: { readonly $each: AuditDocument[]; readonly $slice: number };
} {
  if (entry === undefined) return {};
  return { audit: { $each: [auditDocumentOf(entry)], $slice: -AUDIT_ENTRIES_MAX } };
}

export function auditDocumentOf({ action, actor, detail, time }: AuditEntry): AuditDocument {
  return { time, action, actor: encodeText(actor), detail: encodeOptional(detail) };
}

export function auditEntryOf({ action, actor, detail, time }: AuditDocument): AuditEntry {
  return { time, action, actor: decodeText(actor), detail: decodeOptional(detail) };
}
