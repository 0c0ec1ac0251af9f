/** Messages between instances, events and activities in their stored form: JSON text that the engine can read. */
import type { ChildMessage } from '../../engine/flow/child-end.js';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../../engine/values/json.js';
import type { EventMessage, Message, ModifyMessage } from '../../engine/flow/messages.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { InstanceTrace } from '../../engine/model/instance-trace.js';
import type { Logger } from '../../base/logger.js';
import { LONG_EVENT_LENGTH } from '../../store/records/events.js';
import type { InboxMessage } from '../../store/records/messages.js';
import type { InstanceRecord } from '../../store/records/instances.js';
import { memoryCost } from '../../engine/values/memory-cost.js';

/** Refers to an event whose data is too large to be sent in the message. */
export interface EventReference {
  readonly kind: 'event-reference';
  readonly eventId: string;
  /** Bytes that the data takes in memory; omitted if the data has not been read. */
  readonly cost?: number;
}

/**
 * Refers to a child that has ended, for a parent whose inbox has no room for the child's data. The outcome and the error count
 * if the child no longer exists when the parent reads it; earlier versions of the server omit them.
 */
export interface ChildReference extends Pick<
  ChildMessage,
  'pointerId' | 'attempt' | 'workflowId' | 'status' | 'outcome' | 'error' | 'refused'
> {
  readonly kind: 'child-reference';
  /** Bytes that the data takes in memory. */
  readonly cost: number;
}

type ChildError = NonNullable<ChildMessage['error']>;

/** A modification. `version`: the definition version to move the instance to; null: its own. */
export type StoredModification = Omit<ModifyMessage, 'target'> & {
  readonly definitionId: string;
  readonly version: number | null;
};

/** A stored message. Some refer to an event, a child or a definition version. */
export type StoredMessage =
  Exclude<Message, ModifyMessage> | StoredModification | EventReference | ChildReference;

/** A message delivered to its instance, with the new value of the inbox counter. */
export interface ArrivedMessage {
  readonly id: string;
  readonly body: string;
  readonly inSeq: number;
}

/** Maximum length of each text of an error in a reference to a child. */
const REFERENCE_TEXT_LENGTH_MAX = 500;

/** Assumed memory of the data of a large event that has not been read yet. */
export const UNREAD_EVENT_COST = 4 * 1024 * 1024;

export function eventMessage(event: {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly publishedAt: number;
  /** JSON text; null if it was not read because it is long. */
  readonly data: string | null;
  readonly traceparent?: string;
}): InboxMessage {
  const id = `event/${event.id}`;
  const { data, name, key, publishedAt, traceparent } = event;
  // Long data stays with the event, so that one event for thousands of waits is stored once.
  if (data === null || data.length > LONG_EVENT_LENGTH) {
    const cost = data === null ? {} : { cost: memoryCost(data) };
    const reference: EventReference = { kind: 'event-reference', eventId: event.id, ...cost };
    return { id, body: writeJson(reference) };
  }
  const message: Omit<EventMessage, 'data'> = {
    kind: 'event',
    eventId: event.id,
    name,
    key,
    publishedAt,
    ...(traceparent !== undefined && { traceparent }),
  };
  // The data is JSON already.
  return { id, body: `${writeJson(message).slice(0, -1)},"data":${data}}` };
}

export function inboxMessage(
  id: string,
  message: Exclude<StoredMessage, EventReference | ChildReference>,
): InboxMessage {
  return { id, body: writeJson(message) };
}

/** The short form of a message about the end of a child. */
export function childReference({ id, body }: InboxMessage, end: ChildMessage): InboxMessage {
  const { attempt, outcome, pointerId, refused, status, workflowId } = end;
  const reference: ChildReference = {
    kind: 'child-reference',
    cost: memoryCost(body),
    pointerId,
    attempt,
    workflowId,
    status,
    ...(outcome !== undefined && { outcome }),
    error: shortened(end.error ?? null),
    ...(refused === true && { refused }),
  };
  return { id, body: writeJson(reference) };
}

/** Without its data, and with the first part of its texts. */
function shortened(error: ChildError | null): ChildError | null {
  if (error === null) return null;
  const { message, stepId, type } = error;
  const cut = (text: string): string => text.slice(0, REFERENCE_TEXT_LENGTH_MAX);
  return { stepId: cut(stepId), type: cut(type), message: cut(message), data: null };
}

/**
 * Maximum memory of the references that an instance takes in at the same time, beyond one. It takes in the rest of its messages
 * after it has processed these.
 */
export const REFERRED_BYTES_MAX = 16 * 1024 * 1024;

/** An instance's memory in bytes, including the messages in its inbox that it takes in together. */
export function recordCost({ inbox, state }: Pick<InstanceRecord, 'inbox' | 'state'>): number {
  return memoryCost(state) + messagesCost(inbox);
}

/** The memory, in bytes, of the parsed messages that an instance takes in together. */
export function messagesCost(messages: readonly { readonly body: string }[]): number {
  let cost = 0;
  let referred = 0;
  let largest = 0;
  for (const { body } of messages) {
    const bytes = referredCost(body);
    cost += memoryCost(body);
    referred += bytes;
    largest = Math.max(largest, bytes);
  }
  return cost + Math.min(referred, REFERRED_BYTES_MAX + largest);
}

/** The size of the referenced data, in bytes; 0 if the message isn't a reference. */
export function referredCost(body: string): number {
  if (!REFERENCES.some((start) => body.startsWith(start))) return 0;
  const message = readMessage(body);
  if (message?.kind !== 'event-reference' && message?.kind !== 'child-reference') return 0;
  return typeof message.cost === 'number' ? message.cost : UNREAD_EVENT_COST;
}

/** The beginnings of references, as written by `writeJson`. */
const REFERENCES = ['{"kind":"event-reference"', '{"kind":"child-reference"'];

/** Returns null if the text is not a valid message: another program may have written to the store. */
export function readMessage(body: string): StoredMessage | null {
  const value = parseObject(body);
  if (value === null) return null;
  const { kind } = value;
  if (typeof kind !== 'string' || !Object.hasOwn(SHAPES, kind)) return null;
  for (const [member, type] of Object.entries(SHAPES[kind as StoredMessage['kind']])) {
    if (typeof value[member] !== type) return null;
  }
  // Every member that the engine reads was checked against the table.
  return value as unknown as StoredMessage;
}

const SHAPES: Readonly<Record<StoredMessage['kind'], Readonly<Record<string, string>>>> = {
  event: { eventId: 'string', name: 'string', key: 'string', publishedAt: 'number' },
  'event-reference': { eventId: 'string' },
  activity: { activityId: 'string', succeeded: 'boolean' },
  'retry-now': {},
  begin: {},
  'place-free': {},
  'clean-up': {},
  modify: {
    id: 'string',
    definitionId: 'string',
    modification: 'object',
    hasResumed: 'boolean',
    repair: 'object',
  },
  slots: { execution: 'string' },
  overflow: {},
  debounce: { id: 'string', periodMs: 'number', data: 'object' },
  join: { workflowId: 'string', pointerId: 'number', attempt: 'number' },
  'child-reference': {
    pointerId: 'number',
    attempt: 'number',
    workflowId: 'string',
    status: 'string',
  },
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

/**
 * Reads a message that was delivered to an instance, with the event or the child it refers to. Returns null if the message is
 * invalid, or the event no longer exists.
 */
export async function readArrived(
  workflowId: string,
  { body, id: messageId }: ArrivedMessage,
  environment: {
    readonly logger: Pick<Logger, 'warn'>;
    loadEvent(eventId: string): Promise<Message | null>;
    loadEnd(reference: ChildReference): Promise<Message>;
    loadDefinition(id: string, version: number): Promise<WorkflowDefinition>;
  },
): Promise<Message | null> {
  const message = readMessage(body);
  if (message === null) {
    environment.logger.warn({ workflowId, messageId }, 'dropped an unreadable message');
    return null;
  }
  if (message.kind === 'modify') {
    const { definitionId, version, ...modify } = message;
    const target =
      version === null ? null : await environment.loadDefinition(definitionId, version);
    return { ...modify, target };
  }
  if (message.kind === 'child-reference') return environment.loadEnd(message);
  return message.kind === 'event-reference' ? environment.loadEvent(message.eventId) : message;
}

/** The stored parameters of an activity: the worker's parameters, and the step execution they belong to. */
export interface StoredWork {
  readonly stepId: string;
  /** The attempt of the step that offered the work. */
  readonly attempt: number;
  /** Number of times the execution was compensated before; omitted if it never was. */
  readonly undone?: number;
  /** The instance's trace; omitted if it has none. */
  readonly trace?: InstanceTrace;
  readonly parameters: Json;
}

export function writeWork(work: StoredWork): string {
  const { trace, ...own } = work;
  return writeJson(trace === undefined ? own : { ...own, trace: { ...trace } });
}

/** Returns null if the text was not written by `writeWork`: another program may have written to the store. */
export function readWork(text: string): StoredWork | null {
  const value = parseObject(text);
  if (value === null) return null;
  const { attempt, parameters, stepId, undone = 0 } = value;
  if (typeof stepId !== 'string' || typeof attempt !== 'number') return null;
  if (parameters === undefined || typeof undone !== 'number') return null;
  const trace = traceOf(value['trace']);
  return { stepId, attempt, undone, parameters, ...(trace !== null && { trace }) };
}

function traceOf(value: Json | undefined): InstanceTrace | null {
  if (value === undefined || !isJsonObject(value)) return null;
  const { id, random, sampled, start, state } = value;
  if (typeof id !== 'string' || typeof start !== 'string') return null;
  return {
    id,
    start,
    sampled: sampled === true,
    ...(random === true && { random }),
    ...(typeof state === 'string' && { state }),
  };
}

/**
 * Sorts events by time of publication, after all other messages, which stay in order of arrival. A modification follows
 * everything that arrived before it.
 */
export function inOrder(messages: readonly Message[]): readonly Message[] {
  if (messages.length < 2) return messages;
  const at = messages.findIndex(({ kind }) => kind === 'modify');
  const before = at === -1 ? messages : messages.slice(0, at);
  const events = before.filter((message) => message.kind === 'event');
  events.sort((a, b) => a.publishedAt - b.publishedAt || (a.eventId < b.eventId ? -1 : 1));
  const sorted = [...before.filter((message) => message.kind !== 'event'), ...events];
  if (at === -1) return sorted;
  return [...sorted, ...messages.slice(at, at + 1), ...inOrder(messages.slice(at + 1))];
}
