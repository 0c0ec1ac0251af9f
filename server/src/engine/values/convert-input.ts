/**
 * Converts the value of an expression (JSON) to the type of a built-in step's input.
 *
 * Owns: the conversions, and the messages for impossible ones. Must not know: which step needs the value.
 *
 *  CV1 No conversion throws, whatever the value.
 *  CV2 A message names the expected and the actual value, and stays short however large the value is.
 */
import { DURATION_FORMS, parseDurationMs } from './durations.js';
import { writeNumber } from './exact-json.js';
import { EMIT_LEVELS, type EmitLevel } from './input-choices.js';
import { isJsonObject, type Json, type JsonObject } from './json.js';
import {
  EVENT_KEY_LENGTH_MAX,
  LIMIT_KEY_LENGTH_MAX,
  pathNameProblem,
  referenceProblem,
} from './names.js';
import { readTime, TIME_EXAMPLE, timeProblem } from './times.js';

export type Conversion<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** Strings unchanged; numbers as in JSON; booleans as in JSON (`true`), which HTTP callees expect. */
export function toText(value: Json): Conversion<string> {
  if (typeof value === 'string') return converted(value);
  if (isNumber(value)) return converted(writeNumber(value));
  if (typeof value === 'boolean') return converted(String(value));
  return refused('a string', value);
}

/** A string that can be part of a URL path. With any other name, the step would wait forever. */
export function toName(value: Json, lengthMax?: number): Conversion<string> {
  const text = toText(value);
  const problem = text.ok ? pathNameProblem(text.value, lengthMax) : null;
  return problem === null ? text : { ok: false, message: `the string ${problem}` };
}

/** Booleans are written as in Python, so that the key equals the one that `str()` returns in an expression. */
export function toEventKey(value: Json): Conversion<string> {
  const text = typeof value === 'boolean' ? (value ? 'True' : 'False') : value;
  return toName(text, EVENT_KEY_LENGTH_MAX);
}

/** The key of a limit or of a queue: like the key of an event, but shorter. */
export function toLimitKey(value: Json): Conversion<string> {
  const text = toEventKey(value);
  if (!text.ok || text.value.length <= LIMIT_KEY_LENGTH_MAX) return text;
  const message = `the key has ${text.value.length} characters; at most ${LIMIT_KEY_LENGTH_MAX} are allowed`;
  return { ok: false, message };
}

/** The reference of a run; null: it has none. */
export function toReference(value: Json): Conversion<string | null> {
  if (value === null) return converted(null);
  const text = toText(value);
  const problem = text.ok ? referenceProblem(text.value) : null;
  return problem === null ? text : { ok: false, message: `the string ${problem}` };
}

/** Truth as in Python: null, false, 0, and empty strings, lists and objects are false; everything else is true. */
export function toBoolean(value: Json): Conversion<boolean> {
  if (Array.isArray(value)) return converted(value.length > 0);
  if (isJsonObject(value)) return converted(Object.keys(value).length > 0);
  return converted(Boolean(value));
}

/** Milliseconds since 1970 from a string. */
export function toTimeMs(value: Json): Conversion<number> {
  const read = typeof value === 'string' ? readTime(value) : null;
  if (read?.ok === true) return converted(read.ms);
  const got = timeProblem(describeValue(value), read?.reason ?? null);
  return { ok: false, message: `expected a time such as "${TIME_EXAMPLE}", but got ${got}` };
}

/** Milliseconds; a Python timedelta arrives here as its seconds. */
export function toDurationMs(value: Json): Conversion<number> {
  const durationMs = parseDurationMs(value);
  return durationMs === null
    ? refused(`a duration (${DURATION_FORMS}; up to 100 years)`, value)
    : converted(durationMs);
}

/** A whole number from 1. */
export function toCount(value: Json): Conversion<number> {
  const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
  return isCount ? converted(value) : refused('a whole number from 1', value);
}

/** Anything iterable in Python except strings: iterating over characters is almost never intended. */
export function toList(value: Json): Conversion<readonly Json[]> {
  if (Array.isArray(value)) return converted(value);
  if (isJsonObject(value)) return converted(Object.keys(value));
  return refused('a list', value);
}

export function toObject(value: Json): Conversion<JsonObject> {
  return isJsonObject(value) ? converted(value) : refused('an object', value);
}

/** One of the choices in its own spelling, regardless of the case of the value. */
export function toChoice<T extends string>(value: Json, choices: readonly T[]): Conversion<T> {
  const wanted = typeof value === 'string' ? value.trim().toLowerCase() : null;
  const choice = choices.find((candidate) => candidate.toLowerCase() === wanted);
  return choice === undefined ? refused(`one of ${choices.join(', ')}`, value) : converted(choice);
}

/** A level by its name, or by its number as a number or a string: `2` is Information. */
export function toEmitLevel(value: Json): Conversion<EmitLevel> {
  const text = typeof value === 'number' ? String(value) : value;
  const isNumber = typeof text === 'string' && /^\s*\d\s*$/.test(text);
  const level = isNumber ? EMIT_LEVELS[Number(text)] : undefined;
  return level === undefined ? toChoice(value, EMIT_LEVELS) : converted(level);
}

/** A list of choices; a single choice needs no list around it. */
export function toChoices<T extends string>(
  value: Json,
  choices: readonly T[],
): Conversion<readonly T[]> {
  const chosen: T[] = [];
  const items: readonly Json[] = Array.isArray(value) ? value : [value];
  for (const item of items) {
    const choice = toChoice(item, choices);
    if (!choice.ok) return refused(`a list with any of ${choices.join(', ')}`, value);
    chosen.push(choice.value);
  }
  return converted(chosen);
}

/** A short description of a value, for messages. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value))
    return value.length === 0 ? 'an empty list' : count(value, 'a list of', 'item');
  if (typeof value === 'string') {
    return value === '' ? 'an empty string' : `the string ${quoteText(value)}`;
  }
  if (isNumber(value)) return cutText(writeNumber(value), MAX_QUOTED_LENGTH);
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'object') return `a value of type ${typeof value}`;
  const keys = Object.keys(value);
  return keys.length === 0 ? 'an empty object' : count(keys, 'an object with', 'field');
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

const MAX_QUOTED_LENGTH = 60;

function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}

/** Text in quotes, truncated if it is long, with control characters made visible. */
export function quoteText(text: string): string {
  return text.length <= MAX_QUOTED_LENGTH
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, MAX_QUOTED_LENGTH))}…`;
}

function count(items: readonly unknown[], before: string, noun: string): string {
  return `${before} ${items.length} ${noun}${items.length === 1 ? '' : 's'}`;
}

function converted<T>(value: T): Conversion<T> {
  return { ok: true, value };
}

function refused(expected: string, value: Json): Conversion<never> {
  return { ok: false, message: `expected ${expected}, but got ${describeValue(value)}` };
}
