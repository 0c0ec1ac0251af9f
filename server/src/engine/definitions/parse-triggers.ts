/**
 * The member Triggers. The server checks cron expressions and time zones (`schedules/`), using the positions collected here.
 */
import type { InputValue } from '../model/input-value.js';
import {
  OVERLAPS,
  type CronSource,
  type EventSource,
  type Overlap,
  type TriggerDefinition,
} from '../model/trigger.js';
import {
  describeValue,
  quoteText,
  toEventKey,
  toName,
  type Conversion,
} from '../values/convert-input.js';
import { writeJson } from '../values/exact-json.js';
import { isJsonObject, type Json } from '../values/json.js';
import { parseDebounce } from './parse-debounce.js';
import { childPointer } from './json-pointer.js';
import { label, MemberReader } from './member-reader.js';
import { parseInputValue } from './parse-input-value.js';
import {
  EVENT_MEMBERS,
  TRIGGER_MEMBERS,
  type DefinitionMember,
  type EventMember,
  type TriggerMember,
} from './step-members.js';

export const TRIGGERS_MAX = 100;
const CATCH_UP_MS_DEFAULT = 60_000;
export const EXPRESSION_USE = { gives: 'value', knowsStep: false, stepType: null } as const;
const CRON_ONLY = ['timeZone', 'overlap', 'catchUp', 'jitter'] as const;

type Reader = MemberReader<TriggerMember>;

export function parseTriggers(
  reader: MemberReader<DefinitionMember>,
): readonly TriggerDefinition[] {
  const value = reader.value('triggers');
  if (value === null) return [];
  if (!Array.isArray(value)) {
    const message = `Triggers must be a list of triggers, not ${describeValue(value)}.`;
    reader.fail('triggers', 'wrong_type', message);
    return [];
  }
  const { state } = reader;
  if (!state.isStored && value.length > TRIGGERS_MAX) {
    const message = `Triggers can have at most ${TRIGGERS_MAX} entries, not ${value.length}.`;
    reader.fail('triggers', 'too_many_entries', message);
    return [];
  }
  const triggers = new Map<string, TriggerDefinition>();
  const kept: Json[] = [];
  for (const [index, item] of value.entries()) {
    const pointer = childPointer(reader.pointerOf('triggers'), String(index));
    if (!isJsonObject(item)) {
      const message = `A trigger must be an object, not ${describeValue(item)}.`;
      state.errors.add('wrong_type', pointer, message);
      continue;
    }
    const members = new MemberReader(item, pointer, TRIGGER_MEMBERS, state);
    const trigger = parseTrigger(members);
    kept.push(members.canonical);
    if (trigger === null) continue;
    if (triggers.has(trigger.name)) {
      const message = `There are two triggers with the name ${quoteText(trigger.name)}; give each its own name.`;
      members.fail('name', 'duplicate_trigger', message);
    }
    triggers.set(trigger.name, trigger);
  }
  reader.keep('triggers', kept);
  return [...triggers.values()];
}

function parseTrigger(reader: Reader): TriggerDefinition | null {
  const name = reader.name('name');
  if (name === null && !isWrongType(reader, 'name')) {
    reader.fail('name', 'missing_trigger_member', 'A trigger requires a Name.');
  }
  const source = parseSource(reader);
  const data = parseExpression(reader, 'data');
  const reference = parseExpression(reader, 'reference');
  if (name === null || source === null) return null;
  return { name, source, data, reference, content: writeJson(reader.canonical) };
}

function isWrongType(reader: Reader, name: TriggerMember): boolean {
  const value = reader.value(name);
  return value !== null && typeof value !== 'string';
}

function parseSource(reader: Reader): CronSource | EventSource | null {
  const hasCron = reader.value('cron') !== null;
  const hasEvent = reader.value('event') !== null;
  if (hasCron === hasEvent) {
    const message = 'A trigger requires exactly one of Cron and Event.';
    reader.state.errors.add('missing_trigger_member', reader.pointer, message);
    return null;
  }
  return hasCron ? parseCron(reader) : parseEvent(reader);
}

function parseCron(reader: Reader): CronSource | null {
  if (reader.value('debounce') !== null) {
    const message = 'Debounce belongs to Event; every due time of Cron starts one run.';
    reader.fail('debounce', 'invalid_value', message);
  }
  const cron = reader.name('cron')?.trim() ?? null;
  const timeZone = reader.name('timeZone')?.trim() ?? 'UTC';
  const overlap = parseOverlap(reader);
  const catchUpMs = reader.durationMs('catchUp') ?? CATCH_UP_MS_DEFAULT;
  const jitterMs = reader.durationMs('jitter') ?? 0;
  if (cron === null) {
    if (!isWrongType(reader, 'cron')) {
      reader.fail('cron', 'invalid_value', 'Cron must be an expression such as "0 2 * * *".');
    }
    return null;
  }
  reader.state.crons.push({
    name: reader.name('name') ?? '',
    cron,
    timeZone,
    pointer: reader.pointerOf('cron'),
    timeZonePointer: reader.pointerOf('timeZone'),
  });
  return { kind: 'cron', cron, timeZone, overlap, catchUpMs, jitterMs };
}

function parseOverlap(reader: Reader): Overlap {
  const text = reader.text('overlap');
  if (text === null) return 'Skip';
  const overlap = OVERLAPS.find((each) => each.toLowerCase() === text.trim().toLowerCase());
  if (overlap !== undefined) {
    reader.keep('overlap', overlap);
    return overlap;
  }
  const message = `Overlap must be one of ${OVERLAPS.join(', ')}, not ${quoteText(text)}.`;
  reader.fail('overlap', 'invalid_value', message);
  return 'Skip';
}

function parseEvent(reader: Reader): EventSource | null {
  for (const name of CRON_ONLY) {
    if (reader.value(name) === null) continue;
    const message = `${label(name)} belongs to Cron; every event starts one run.`;
    reader.fail(name, 'invalid_value', message);
  }
  const value = reader.value('event');
  if (!isJsonObject(value)) {
    const message = `Event must be an object with a Name, not ${describeValue(value)}.`;
    reader.fail('event', 'wrong_type', message);
    return null;
  }
  const event = new MemberReader(value, reader.pointerOf('event'), EVENT_MEMBERS, reader.state);
  const eventName = event.text('name');
  const eventKey = event.text('key');
  const debounce = parseDebounce(reader);
  reader.keep('event', event.canonical);
  if (eventName === null || eventName === '') {
    if (eventName === '' || event.value('name') === null) {
      const message = 'An Event requires a Name, the name under which events are published.';
      event.fail('name' satisfies EventMember, 'missing_trigger_member', message);
    }
    return null;
  }
  checkEvent(event, 'name', toName);
  checkEvent(event, 'key', toEventKey);
  return { kind: 'event', eventName, eventKey, debounce };
}

/** An event with another name or key can't be published. Earlier versions of the server accepted such triggers. */
function checkEvent(
  event: MemberReader<EventMember>,
  member: EventMember,
  convert: (text: string) => Conversion<string>,
): void {
  const text = event.text(member);
  const converted = text === null || event.state.isStored ? null : convert(text);
  if (converted?.ok !== false) return;
  event.fail(member, 'invalid_value', `${label(member)} of an Event: ${converted.message}.`);
}

function parseExpression(reader: Reader, name: 'data' | 'reference'): InputValue | null {
  const value = reader.value(name);
  if (value === null) return null;
  // The parser below reports values that aren't JSON.
  reader.keep(name, value as Json);
  const place = { pointer: reader.pointerOf(name), use: EXPRESSION_USE };
  return parseInputValue(value, place, reader.state);
}
