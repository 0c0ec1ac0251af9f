/** Audit entries in the documents of instances. */
import { AUDIT_ENTRIES_MAX, type AuditEntry } from '../records/control.js';
import { decodeText, encodeOptional, encodeText } from '../text-codec.js';
import type { AuditDocument } from './documents.js';
import { decodeOptional } from './packed-text.js';

/** The part of the update that records the actions: its `$push`. Empty without an entry. */
export function auditPush(...entries: readonly (AuditEntry | undefined)[]): {
  readonly audit?: { readonly $each: AuditDocument[]; readonly $slice: number };
} {
  const added = entries.filter((entry) => entry !== undefined).map(auditDocumentOf);
  if (added.length === 0) return {};
  return { audit: { $each: added, $slice: -AUDIT_ENTRIES_MAX } };
}

export function auditDocumentOf({ action, actor, detail, time }: AuditEntry): AuditDocument {
  return { time, action, actor: encodeText(actor), detail: encodeOptional(detail) };
}

export function auditEntryOf({ action, actor, detail, time }: AuditDocument): AuditEntry {
  return { time, action, actor: decodeText(actor), detail: decodeOptional(detail) };
}
