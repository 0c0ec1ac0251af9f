/**
 * Writes YAML responses that both YAML 1.1 and YAML 1.2 parsers read as the same values as the JSON response.
 *
 *  Y1 A string is written without quotes only if it starts with a letter or `_` and both versions read it as a string. So strings
 *     such as dates, numbers, `=` and `<<` are quoted.
 *  Y2 Characters that are not printable in YAML, or that end a line in YAML 1.1, are escaped.
 *  Y3 A float with an exponent has a point and a sign (`1.0e-7`), because YAML 1.1 reads it as a string otherwise.
 *
 * It writes no anchors, aliases, tags or folded lines. The library isn't used because it builds a node tree first and is many
 * times slower.
 */
import { writeNumber } from '../../engine/values/exact-json.js';
import { PART_WEIGHT, weigh } from '../../engine/values/json-parts.js';

export function writeYaml(value: unknown): string {
  const writer = new YamlWriter();
  writer.write(value, 0);
  return writer.text;
}

/** The same, in parts. Null if the text would be longer than `lengthMax` characters. */
export function* writeYamlParts(
  value: unknown,
  lengthMax: number,
): Generator<undefined, string | null> {
  const writer = new YamlWriter();
  const parts = writer.writeParts(value, 0);
  while (parts.next().done !== true) {
    if (writer.join() > lengthMax) return null;
    yield;
  }
  return writer.join() > lengthMax ? null : writer.text;
}

const INDENT = '  ';
/** Longer keys are written with a leading `?`. YAML's limit is 1,024 characters. */
const KEY_LENGTH_MAX = 1000;

class YamlWriter {
  #parts: string[] = [];
  /** The joined parts: a few long strings cost the garbage collector less than millions of short ones. */
  readonly #joined: string[] = [];
  #length = 0;

  get text(): string {
    this.join();
    return `${this.#joined.join('').trimStart()}\n`;
  }

  /** The length of the text so far. */
  join(): number {
    const text = this.#parts.join('');
    this.#joined.push(text);
    this.#length += text.length;
    this.#parts = [];
    return this.#length;
  }

  /** The text after `key:` or `-`, including the space or line break before it. */
  write(value: unknown, depth: number): void {
    if (typeof value === 'string') this.#parts.push(' ', textOf(value, depth));
    else if (typeof value !== 'object' || value === null) this.#parts.push(' ', scalarOf(value));
    else if (Array.isArray(value)) this.#list(value, depth);
    else this.#map(value, depth, '\n');
  }

  /** Like `write`, but yields from time to time if there is much to write. */
  *writeParts(value: unknown, depth: number): Generator<undefined, void> {
    if (typeof value !== 'object' || value === null || weigh(value) <= PART_WEIGHT) {
      this.write(value, depth);
      yield;
    } else if (Array.isArray(value)) {
      yield* this.#listParts(value, depth);
    } else {
      yield* this.#mapParts(value, depth, '\n');
    }
  }

  #list(items: readonly unknown[], depth: number): void {
    if (items.length === 0) this.#parts.push(' []');
    for (const item of items) this.#item(item, depth);
  }

  *#listParts(items: readonly unknown[], depth: number): Generator<undefined, void> {
    let weight = 0;
    for (const item of items) {
      const own = weigh(item);
      weight += own;
      if (own <= PART_WEIGHT) {
        this.#item(item, depth);
      } else {
        this.#parts.push('\n', INDENT.repeat(depth), '-');
        if (isMap(item)) yield* this.#mapParts(item, depth + 1, ' ');
        else yield* this.writeParts(item, depth + 1);
      }
      if (weight < PART_WEIGHT) continue;
      weight = 0;
      yield;
    }
  }

  #item(item: unknown, depth: number): void {
    this.#parts.push('\n', INDENT.repeat(depth), '-');
    // The first field of a map in a list is on the line of the dash.
    if (isMap(item)) this.#map(item, depth + 1, ' ');
    else this.write(item, depth + 1);
  }

  /** @param before the text before the first field */
  #map(source: object, depth: number, before: '\n' | ' '): void {
    let isEmpty = true;
    for (const [name, value] of Object.entries(source)) {
      if (value === undefined) continue;
      this.#key(name, depth, isEmpty ? before : '\n');
      isEmpty = false;
      this.write(value, depth + 1);
    }
    if (isEmpty) this.#parts.push(' {}');
  }

  *#mapParts(source: object, depth: number, before: '\n' | ' '): Generator<undefined, void> {
    let weight = 0;
    let isEmpty = true;
    for (const name in source) {
      const value = (source as Readonly<Record<string, unknown>>)[name];
      if (value === undefined) continue;
      this.#key(name, depth, isEmpty ? before : '\n');
      isEmpty = false;
      const own = 1 + weigh(value);
      weight += own;
      if (own <= PART_WEIGHT) this.write(value, depth + 1);
      else yield* this.writeParts(value, depth + 1);
      if (weight < PART_WEIGHT) continue;
      weight = 0;
      yield;
    }
    if (isEmpty) this.#parts.push(' {}');
  }

  #key(name: string, depth: number, before: '\n' | ' '): void {
    if (before === ' ') this.#parts.push(' ');
    else this.#parts.push('\n', INDENT.repeat(depth));
    const key = quotedUnlessPlain(name);
    this.#parts.push(
      key.length <= KEY_LENGTH_MAX ? `${key}:` : `? ${key}\n${INDENT.repeat(depth)}:`,
    );
  }
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function scalarOf(value: unknown): string {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return String(value);
  // As in JSON, which can't represent non-finite numbers.
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'null';
  return writeNumber(value).replace(/^(-?\d+)e/, '$1.0e');
}

/**
 * Characters that are not printable, or that some parsers read as a line break or byte order mark. Line feeds and tabs
 * are handled elsewhere.
 */
const ESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;
const UNPRINTABLE =
  /[\p{Surrogate}\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/u;
/** A letter, followed by text that doesn't start a comment or a value and isn't trimmed at the end of the line. */
const PLAIN = /^[\p{L}_](?:[^\n\t :#]|:(?! |$)| (?![ #]|$)|(?<! )#)*$/u;
/** Booleans and nulls of YAML 1.1, and strings that some parsers read as a float without digits before its exponent. */
const RESERVED = /^(?:y|yes|n|no|on|off|true|false|null|e[-+]?\d+)$/i;
/** Longer strings are always quoted, because checking them would be expensive. */
const PLAIN_LENGTH_MAX = 10_000;

/** The form of most names and words, which need no quotes unless they are reserved. */
const SIMPLE = /^[A-Za-z_][\w./-]*$/;

function quotedUnlessPlain(text: string): string {
  if (text.length <= 100 && SIMPLE.test(text) && !RESERVED.test(text)) return text;
  const isPlain =
    text.length <= PLAIN_LENGTH_MAX &&
    PLAIN.test(text) &&
    !RESERVED.test(text) &&
    !UNPRINTABLE.test(text);
  return isPlain ? text : quoted(text);
}

/** The quotes and escapes of JSON are valid in YAML. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function textOf(text: string, depth: number): string {
  return text.includes('\n') && isBlock(text) ? block(text, depth) : quotedUnlessPlain(text);
}

/** Whether a string with several lines can be written as a block. */
function isBlock(text: string): boolean {
  return !/^\s|[ \t]\n|[ \t]$|\n\t|\n\n$/.test(text) && !UNPRINTABLE.test(text);
}

function block(text: string, depth: number): string {
  const indent = `\n${INDENT.repeat(Math.max(depth, 1))}`;
  const endsLine = text.endsWith('\n');
  const lines = (endsLine ? text.slice(0, -1) : text).split('\n');
  const indented = lines.map((line) => (line === '' ? '\n' : `${indent}${line}`));
  return `|${endsLine ? '' : '-'}${indented.join('')}`;
}
