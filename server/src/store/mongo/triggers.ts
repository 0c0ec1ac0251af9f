/** Triggers of definitions. */
import type { OperationArguments } from '../store-operations.js';
import type { TriggerRecord } from '../records/triggers.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { TriggerDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';
import { packText, unpackText } from './packed-text.js';
import { saveRevision } from './versioned-documents.js';

export async function saveTrigger(
  { triggers }: MongoContext,
  [trigger, expected]: OperationArguments<'saveTrigger'>,
): Promise<boolean> {
  return saveRevision(triggers, triggerDocumentOf(trigger), expected);
}

export async function removeTrigger(
  { triggers }: MongoContext,
  [id, revision]: OperationArguments<'removeTrigger'>,
): Promise<boolean> {
  return (await triggers.deleteOne({ _id: encodeText(id), revision })).deletedCount > 0;
}

export async function getTrigger(
  { triggers }: MongoContext,
  [id]: OperationArguments<'getTrigger'>,
): Promise<TriggerRecord | null> {
  const document = await triggers.findOne({ _id: encodeText(id) });
  return document === null ? null : triggerOf(document);
}

export async function listTriggers(
  { triggers }: MongoContext,
  [definitionId, limit]: OperationArguments<'listTriggers'>,
): Promise<readonly TriggerRecord[]> {
  const found = triggers.find({ definitionId: encodeText(definitionId) });
  return (await found.sort({ _id: 1 }).limit(limit).toArray()).map(triggerOf);
}

export async function findDueTriggers(
  { triggers }: MongoContext,
  [dueBefore, limit]: OperationArguments<'findDueTriggers'>,
): Promise<readonly TriggerRecord[]> {
  // Numbers only: a comparison doesn't match a trigger without a time.
  const found = triggers.find({ dueAt: { $lte: dueBefore } });
  return (await found.sort({ dueAt: 1, _id: 1 }).limit(limit).toArray()).map(triggerOf);
}

export async function findEventTriggers(
  { triggers }: MongoContext,
  [eventHash, afterId, limit]: OperationArguments<'findEventTriggers'>,
): Promise<readonly TriggerRecord[]> {
  const found = triggers.find({ eventHash, _id: { $gt: encodeText(afterId ?? '') } });
  return (await found.sort({ _id: 1 }).limit(limit).toArray()).map(triggerOf);
}

export function triggerOf(document: TriggerDocument): TriggerRecord {
  return {
    id: decodeText(document._id),
    definitionId: decodeText(document.definitionId),
    dueAt: document.dueAt,
    eventHash: document.eventHash,
    revision: document.revision,
    body: unpackText(document.body),
  };
}

export function triggerDocumentOf(trigger: TriggerRecord): TriggerDocument {
  return {
    _id: encodeText(trigger.id),
    definitionId: encodeText(trigger.definitionId),
    dueAt: trigger.dueAt,
    eventHash: trigger.eventHash,
    revision: trigger.revision,
    body: packText(trigger.body),
  };
}
