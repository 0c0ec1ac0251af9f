/**
 * Reads long JSON text in parts: a generator that yields between two parts, each of which takes a few milliseconds.
 *
 * One scan of the characters finds where the long lists and objects start and end. Everything between long ones goes to the
 * platform's parser, many members at a time. This reader accepts and rejects exactly the same texts as `readJson`: if a text
 * looks unusual, `readJson` decides.
 */
import { readJson } from './exact-json.js';
import { endOfString } from './json-string.js';
import { setField, type Json, type JsonObject } from './json.js';

/** Approximate number of characters parsed at once, and scanned between two yields. */
const PART_LENGTH = 64 * 1024;

/** The text is not suitable for reading in parts. */
class OddText extends Error {
  override readonly name = 'OddText';
}

/** Like `readJson`. */
export function* readJsonParts(text: string): Generator<undefined, Json> {
  try {
    const ends = yield* findLongContainers(text);
    const start = skipBlanks(text, 0);
    const end = ends.get(start);
    // The parser also reports errors of the text as a whole, such as a second value.
    if (end !== undefined && skipBlanks(text, end + 1) === text.length) {
      return yield* new PartReader(text, ends).read(start);
    }
  } catch (error) {
    if (!(error instanceof OddText || error instanceof SyntaxError)) throw error;
  }
  return readJson(text);
}

/** Where each long list and object starts and ends. */
function* findLongContainers(text: string): Generator<undefined, ReadonlyMap<number, number>> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  let yieldAt = PART_LENGTH;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= yieldAt) {
      yield;
      yieldAt = at + PART_LENGTH;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = closedEnd(text, at);
    } else if (code === BRACE || code === BRACKET) {
      open.push(at);
    } else if (code === BRACE_END || code === BRACKET_END) {
      const start = open.pop();
      // The characters of both pairs have codes that differ by two.
      if (start === undefined || text.charCodeAt(start) !== code - 2) throw new OddText();
      if (at - start > PART_LENGTH) ends.set(start, at);
    }
  }
  return ends;
}

class PartReader {
  readonly #text: string;
  readonly #ends: ReadonlyMap<number, number>;

  constructor(text: string, ends: ReadonlyMap<number, number>) {
    this.#text = text;
    this.#ends = ends;
  }

  /** A long list or object. */
  *read(start: number): Generator<undefined, Json> {
    const isList = this.#text.charCodeAt(start) === BRACKET;
    const members: Members = isList ? new ListMembers() : new MapMembers();
    const end = this.#ends.get(start) ?? start;
    /** Start of the unread members, and start of the last one. */
    let from = start + 1;
    let member = from;
    for (let at = from; at < end; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === QUOTE) {
        at = closedEnd(this.#text, at);
      } else if (code === COMMA) {
        member = at + 1;
        if (at - from < PART_LENGTH) continue;
        members.add(this.#text.slice(from, at));
        from = member;
        yield;
      } else if (code === BRACE || code === BRACKET) {
        const innerEnd = this.#ends.get(at);
        if (innerEnd === undefined) {
          at = endOfContainer(this.#text, at);
          continue;
        }
        if (member > from) members.add(this.#text.slice(from, member - 1));
        const name = this.#text.slice(member, at);
        members.addLong(name, yield* this.read(at));
        at = skipBlanks(this.#text, innerEnd + 1);
        if (at === end) return members.value;
        if (this.#text.charCodeAt(at) !== COMMA) throw new OddText();
        from = at + 1;
        member = from;
      }
    }
    members.add(this.#text.slice(from, end));
    return members.value;
  }
}

/** Collects the members of a long list or object. */
interface Members {
  readonly value: Json;
  /** Adds at least one member, as text. */
  add(text: string): void;
  /** Adds a member that was read separately. @param name the text before the value */
  addLong(name: string, value: Json): void;
}

class ListMembers implements Members {
  readonly value: Json[] = [];

  add(text: string): void {
    const items = readJson(`[${text}]`) as readonly Json[];
    if (items.length === 0) throw new OddText();
    for (const item of items) this.value.push(item);
  }

  addLong(name: string, value: Json): void {
    if (skipBlanks(name, 0) !== name.length) throw new OddText();
    this.value.push(value);
  }
}

class MapMembers implements Members {
  readonly value: JsonObject = {};

  add(text: string): void {
    const some = readJson(`{${text}}`) as JsonObject;
    const names = Object.keys(some);
    if (names.length === 0) throw new OddText();
    for (const name of names) setField(this.value, name, some[name] ?? null);
  }

  addLong(name: string, value: Json): void {
    const [key = ''] = Object.keys(readJson(`{${name}0}`) as JsonObject);
    setField(this.value, key, value);
  }
}

/** The position of the last character of a short list or object. */
function endOfContainer(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closedEnd(text, at);
    else if (code === BRACE || code === BRACKET) depth += 1;
    else if (code === BRACE_END || code === BRACKET_END) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  throw new OddText();
}

function closedEnd(text: string, start: number): number {
  const end = endOfString(text, start);
  if (end === text.length) throw new OddText();
  return end;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (BLANKS.has(text.charCodeAt(at))) at += 1;
  return at;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
