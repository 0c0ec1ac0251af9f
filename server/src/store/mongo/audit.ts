/** Control actions on an instance: the newest entries, in the instance's own document. */
import type { OperationArguments } from '../store-operations.js';
import type { AuditEntry } from '../records/control.js';
import { encodeText } from '../text-codec.js';
import { auditEntryOf, auditPush } from './audit-documents.js';
import type { MongoContext } from './mongo-context.js';

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
