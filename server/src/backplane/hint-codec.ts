/** Hints as text. What comes from Redis or PostgreSQL may have been written by anybody: anything odd is no hint. */
import { INSTANCE_OUTCOMES } from '../engine/model/instance.js';
import { isJsonObject, type JsonObject } from '../engine/values/json.js';
import {
  CHANGES_PER_HINT_MAX,
  type ChangeBatch,
  type ChangedDefinition,
  type Hint,
  type ChangedInstance,
} from './backplane.js';

/** Enough for a full batch of changes with names of maximum length, every character escaped. */
const TEXT_LENGTH_MAX = 256 * 1024;
/** Names and ids of this server are shorter. */
const NAME_LENGTH_MAX = 2048;

const STATUSES = ['Runnable', 'Suspended', 'Complete', 'Terminated'] as const;

export interface SentHint {
  readonly sender: string;
  readonly hint: Hint;
}

export function writeHint(sent: SentHint): string {
  return JSON.stringify(sent);
}

/** Null for text that no node of this version has written. */
export function readHint(text: string): SentHint | null {
  const value = objectIn(text);
  if (value === null || !isName(value['sender'])) return null;
  const hint = hintOf(value['hint']);
  return hint === null ? null : { sender: value['sender'], hint };
}

/** Several hints of one sender. Null for text that no node of this version wrote, and if any of its hints is odd. */
export function readHints(
  text: string,
): { readonly sender: string; readonly hints: readonly Hint[] } | null {
  const value = objectIn(text);
  const given = value?.['hints'];
  if (value === null || !isName(value['sender']) || !Array.isArray(given)) return null;
  const hints: Hint[] = [];
  for (const item of given) {
    const hint = hintOf(item);
    if (hint === null) return null;
    hints.push(hint);
  }
  return { sender: value['sender'], hints };
}

function objectIn(text: string): JsonObject | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function hintOf(value: unknown): Hint | null {
  if (!isJsonObject(value)) return null;
  const { id, kind, name, owner } = value;
  if (kind === 'instance' && isName(id) && isName(owner)) return { kind, id, owner };
  if (isName(id) && (kind === 'instance' || kind === 'definition' || kind === 'ended')) {
    return { kind, id };
  }
  if (isName(name) && (kind === 'activity' || kind === 'step' || kind === 'limit')) {
    return { kind, name };
  }
  if (kind === 'interest' || kind === 'notifications') return { kind };
  if (kind !== 'changes') return null;
  const changes = changesOf(value['changes']);
  return changes === null ? null : { kind, changes };
}

function changesOf(value: unknown): ChangeBatch | null {
  if (!isJsonObject(value) || typeof value['lagged'] !== 'boolean') return null;
  const workflows = listOf(value['workflows'], workflowOf);
  const definitions = listOf(value['definitions'], definitionOf);
  if (workflows === null || definitions === null) return null;
  return { workflows, definitions, lagged: value['lagged'] };
}

/** Null if the value is not a list, is too long, or has an invalid item. */
function listOf<Item>(
  value: unknown,
  itemOf: (item: unknown) => Item | null,
): readonly Item[] | null {
  if (!Array.isArray(value) || value.length > CHANGES_PER_HINT_MAX) return null;
  const items: Item[] = [];
  for (const given of value) {
    const item = itemOf(given);
    if (item === null) return null;
    items.push(item);
  }
  return items;
}

function workflowOf(value: unknown): ChangedInstance | null {
  if (!isJsonObject(value)) return null;
  const { definitionId, endTime, failureTime, id, lastChangeTime, reference, startTime, version } =
    value;
  const status = STATUSES.find((known) => known === value['status']);
  const outcome = [null, ...INSTANCE_OUTCOMES].find((known) => known === value['outcome']);
  const parent = parentOf(value['parent']);
  if (status === undefined || outcome === undefined || parent === undefined) return null;
  if (!isName(id) || !isName(definitionId)) return null;
  if (!isCount(version) || !(reference === null || isName(reference))) return null;
  if (!isTime(startTime) || !isTime(lastChangeTime)) return null;
  if (!isTimeOrNull(endTime) || !isTimeOrNull(failureTime)) return null;
  // Nodes of earlier versions leave it out.
  const { failingSince = failureTime } = value;
  if (!isTimeOrNull(failingSince)) return null;
  return {
    id,
    definitionId,
    version,
    reference,
    status,
    outcome,
    parent,
    startTime,
    endTime,
    lastChangeTime,
    failureTime,
    failingSince,
  };
}

/** Undefined if the value is invalid. */
function parentOf(value: unknown): ChangedInstance['parent'] | undefined {
  if (value === null) return null;
  if (!isJsonObject(value) || !isName(value['workflowId'])) return undefined;
  return { workflowId: value['workflowId'] };
}

function definitionOf(value: unknown): ChangedDefinition | null {
  if (!isJsonObject(value)) return null;
  const { id, version } = value;
  return isName(id) && isCount(version) ? { id, version } : null;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= NAME_LENGTH_MAX;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** The range of a Date, so that a received time can always be formatted. */
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15;
}

function isTimeOrNull(value: unknown): value is number | null {
  return value === null || isTime(value);
}
