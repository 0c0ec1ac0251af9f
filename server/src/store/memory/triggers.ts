/** Triggers of definitions. */
import type { OperationArguments } from '../store-operations.js';
import type { TriggerRecord } from '../records/triggers.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';

export function saveTrigger(
  { triggers }: MemoryData,
  [trigger, expected]: OperationArguments<'saveTrigger'>,
): boolean {
  if ((triggers.get(trigger.id)?.revision ?? null) !== expected) return false;
  triggers.set(trigger.id, { ...trigger });
  return true;
}

export function removeTrigger(
  { triggers }: MemoryData,
  [id, revision]: OperationArguments<'removeTrigger'>,
): boolean {
  return triggers.get(id)?.revision === revision && triggers.delete(id);
}

export function getTrigger(
  { triggers }: MemoryData,
  [id]: OperationArguments<'getTrigger'>,
): TriggerRecord | null {
  return triggers.get(id) ?? null;
}

export function listTriggers(
  data: MemoryData,
  [definitionId, limit]: OperationArguments<'listTriggers'>,
): readonly TriggerRecord[] {
  return byId(data, (trigger) => trigger.definitionId === definitionId).slice(0, limit);
}

export function findDueTriggers(
  data: MemoryData,
  [dueBefore, limit]: OperationArguments<'findDueTriggers'>,
): readonly TriggerRecord[] {
  const dueAt = (trigger: TriggerRecord): number => trigger.dueAt ?? Infinity;
  return byId(data, (trigger) => dueAt(trigger) <= dueBefore)
    .sort((left, right) => dueAt(left) - dueAt(right))
    .slice(0, limit);
}

export function findEventTriggers(
  data: MemoryData,
  [eventHash, afterId, limit]: OperationArguments<'findEventTriggers'>,
): readonly TriggerRecord[] {
  return byId(
    data,
    (trigger) =>
      trigger.eventHash === eventHash && (afterId === null || compareText(trigger.id, afterId) > 0),
  ).slice(0, limit);
}

function byId(
  { triggers }: MemoryData,
  isWanted: (trigger: TriggerRecord) => boolean,
): TriggerRecord[] {
  return [...triggers.values()]
    .filter(isWanted)
    .sort((left, right) => compareText(left.id, right.id));
}
