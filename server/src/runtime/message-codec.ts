/** Messages between instances, events and activities as the store keeps them: JSON text that the engine can read. */
import { readJson, writeJson } from '../engine/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../engine/json.js';
import type { Message } from '../engine/messages.js';
import type { InboxMessage } from '../store/store.js';

/** A message, or where its data is to be found when it was too large to be sent along. */
export type StoredMessage =
  Message | { readonly kind: 'event-reference'; readonly eventId: string };

/** A message as it reached its instance, and the counter that it raised. */
export interface ArrivedMessage {
  readonly id: string;
  readonly body: string;
  readonly inSeq: number;
}

/** Event data larger than this stays with the event, so that one event for thousands of waits is stored once. */
const INLINE_LENGTH_MAX = 16_384;

export function eventMessage(event: {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly publishedAt: number;
  /** JSON text. */
  readonly data: string;
}): InboxMessage {
  const id = `event/${event.id}`;
  if (event.data.length > INLINE_LENGTH_MAX) {
    const reference: StoredMessage = { kind: 'event-reference', eventId: event.id };
    return { id, body: writeJson(reference) };
  }
  const { name, key, publishedAt } = event;
  const message: Message = {
    kind: 'event',
    eventId: event.id,
    name,
    key,
    publishedAt,
    data: readJson(event.data), // Stored by us as JSON.
  };
  return { id, body: writeJson(message) };
}

export function inboxMessage(id: string, message: Message): InboxMessage {
  return { id, body: writeJson(message) };
}

/** Null for text that is no message: the store may hold what somebody else wrote. */
export function readMessage(body: string): StoredMessage | null {
  const value = parseObject(body);
  if (value === null) return null;
  const { kind } = value;
  const shape = typeof kind === 'string' ? SHAPES[kind] : undefined;
  if (shape === undefined) return null;
  for (const [member, type] of Object.entries(shape)) {
    if (typeof value[member] !== type) return null;
  }
  // Every member that the engine looks into was checked against the table.
  return value as unknown as StoredMessage;
}

const SHAPES: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = {
  event: { eventId: 'string', name: 'string', key: 'string', publishedAt: 'number' },
  'event-reference': { eventId: 'string' },
  activity: { activityId: 'string', succeeded: 'boolean' },
  'retry-now': {},
  'clean-up': {},
  child: { pointerId: 'number', attempt: 'number', workflowId: 'string', status: 'string' },
};

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = readJson(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** What the store keeps as an activity's parameters: what the worker gets, and whose work it is. */
export interface StoredWork {
  readonly stepId: string;
  /** The attempt of the step that offered it. */
  readonly attempt: number;
  /** How often the execution was compensated before it; left out for never. */
  readonly undone?: number;
  readonly parameters: Json;
}

export function writeWork(work: StoredWork): string {
  return writeJson(work);
}

/** Null for text that `writeWork` has not written: the store may hold what somebody else wrote. */
export function readWork(text: string): StoredWork | null {
  const value = parseObject(text);
  if (value === null) return null;
  const { attempt, parameters, stepId, undone = 0 } = value;
  if (typeof stepId !== 'string' || typeof attempt !== 'number') return null;
  if (parameters === undefined || typeof undone !== 'number') return null;
  return { stepId, attempt, undone, parameters };
}

/** Events in the order in which they were published, after everything else in the order of arrival. */
export function inOrder(messages: readonly Message[]): readonly Message[] {
  if (messages.length < 2) return messages;
  const events = messages.filter((message) => message.kind === 'event');
  events.sort((a, b) => a.publishedAt - b.publishedAt || (a.eventId < b.eventId ? -1 : 1));
  return [...messages.filter((message) => message.kind !== 'event'), ...events];
}
