/**
 * Reads and writes long JSON in parts: generators that yield between two parts, each of which takes at most a few milliseconds.
 * They produce the same texts and values as `readJson` and `writeJson`.
 */
import { writeJson } from './exact-json.js';
import { jsonLength } from './json-length.js';
import type { Json } from './json.js';

/** Work between two yields, in values; a string counts as one for each 64 characters. */
export const PART_WEIGHT = 4000;
const CHARACTERS_PER_VALUE = 64;

/** Whether writing the value is fast enough without parts. */
export function isLight(value: unknown): boolean {
  return weigh(value) <= PART_WEIGHT;
}

/** Approximate number of values; stops counting beyond `enough`. */
export function weigh(value: unknown, enough = PART_WEIGHT): number {
  if (typeof value === 'string') return 1 + value.length / CHARACTERS_PER_VALUE;
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  if (Array.isArray(value)) {
    for (const item of value) {
      weight += weigh(item, enough - weight);
      if (weight > enough) return weight;
    }
    return weight;
  }
  for (const key in value) {
    weight += 1 + weigh((value as Readonly<Record<string, unknown>>)[key], enough - weight);
    if (weight > enough) return weight;
  }
  return weight;
}

/** The length of the JSON text of a value in UTF-8, in bytes; slightly more if members are undefined. */
export function* lengthInParts(value: unknown): Generator<undefined, number> {
  if (typeof value !== 'object' || value === null || isLight(value)) {
    return jsonLength(value as Json);
  }
  let length = 2;
  let weight = 0;
  for (const key in value) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    const own = weigh(member);
    length += Array.isArray(value) ? 1 : jsonLength(key) + 2;
    length += own > PART_WEIGHT ? yield* lengthInParts(member) : jsonLength(member as Json);
    weight += own;
    if (weight <= PART_WEIGHT) continue;
    weight = 0;
    yield;
  }
  return length;
}

/** Like `writeJson`. */
export function* writeJsonParts(value: unknown): Generator<undefined, string> {
  const texts: string[] = [];
  yield* writeInto(texts, value);
  return texts.join('');
}

function* writeInto(texts: string[], value: unknown): Generator<undefined, void> {
  if (typeof value !== 'object' || value === null || isLight(value)) {
    texts.push(writeJson(value as Json));
    yield;
  } else if (Array.isArray(value)) {
    yield* writeList(texts, value);
  } else {
    yield* writeMap(texts, value as Readonly<Record<string, unknown>>);
  }
}

function* writeList(texts: string[], items: readonly unknown[]): Generator<undefined, void> {
  let before = '[';
  let first = 0;
  let weight = 0;
  const flush = (end: number): void => {
    if (first < end) {
      texts.push(before, withoutBrackets(writeJson(items.slice(first, end))));
      before = ',';
    }
    weight = 0;
  };
  for (const [index, item] of items.entries()) {
    const own = weigh(item);
    if (weight + own <= PART_WEIGHT) {
      weight += own;
      continue;
    }
    flush(index);
    yield;
    first = index;
    if (own <= PART_WEIGHT) {
      weight = own;
      continue;
    }
    texts.push(before);
    before = ',';
    yield* writeInto(texts, item);
    first = index + 1;
  }
  flush(items.length);
  texts.push(']');
}

function* writeMap(
  texts: string[],
  source: Readonly<Record<string, unknown>>,
): Generator<undefined, void> {
  let before = '{';
  let light = emptyMap();
  let weight = 0;
  const flush = (): void => {
    const text = withoutBrackets(writeJson(light));
    // Undefined members are not written.
    if (text !== '') {
      texts.push(before, text);
      before = ',';
    }
    light = emptyMap();
    weight = 0;
  };
  for (const key in source) {
    const value = source[key];
    const own = 1 + weigh(value);
    if (weight + own > PART_WEIGHT) {
      flush();
      yield;
    }
    if (own <= PART_WEIGHT) {
      light[key] = value;
      weight += own;
      continue;
    }
    texts.push(before, writeJson(key), ':');
    before = ',';
    yield* writeInto(texts, value);
  }
  flush();
  texts.push(before === '{' ? '{}' : '}');
}

/** Without a prototype, `__proto__` is an ordinary name. */
function emptyMap(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

function withoutBrackets(text: string): string {
  return text.slice(1, -1);
}
