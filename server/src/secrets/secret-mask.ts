/**
 * Replaces the values of secrets by `***NAME***` in whatever comes back from outside: results, errors, logs.
 *
 *  SK1 A value is found as it is and as it is usually written elsewhere: in URLs and as their host, in JSON texts, Base64, hexadecimal, HTML and
 *      Python's texts, also where one is written within another.
 *  SK2 Only whole values are found. Otherwise, whoever sees masked texts could guess a value letter by letter. So texts are masked
 *      before the server cuts them, or lose their end.
 *  SK3 The time grows with the length of the text, not with the number of secrets.
 */
import { domainToASCII, domainToUnicode } from 'node:url';
import { isJsonObject, setField, type Json, type JsonObject } from '../engine/values/json.js';
import { DecodedText, WAYS_OF_WRITING } from './decoded-text.js';

/** What people see, and expressions that compute with the value. */
export function shownSecret(name: string): string {
  return `***${name}***`;
}

/** Shorter values are not masked: they occur by chance. */
const LENGTH_MIN = 6;
/** Lines of a value, such as a private key, that are masked on their own. */
const LINE_LENGTH_MIN = 16;
/** Values that a secret had before are still masked: calls that were made with them may return. */
const VALUES_PER_NAME = 10;
const STARTS = 1 << 16;
/** The longest that a byte is written: `%c3`. */
const WRITTEN_LENGTH_MAX = 3;

interface Form {
  readonly text: string;
  readonly mask: string;
  /** How long the line or the value can be that it belongs to, however it is written. */
  readonly writtenLengthMax: number;
}

export class SecretMask {
  /** The newest value last. */
  readonly #values = new Map<string, string[]>();
  /** The forms by their first characters, the longest first. */
  #forms = new Map<string, Form[]>();
  /** Whether a form may start with two characters: most places of a text are decided by this alone. */
  #starts = new Uint8Array(STARTS);
  /** Not for each of many values that are added at once. */
  #isCompiled = true;

  add(name: string, value: string): void {
    const values = this.#values.get(name) ?? [];
    if (value.length < LENGTH_MIN || values.includes(value)) return;
    this.#values.set(name, [...values, value].slice(-VALUES_PER_NAME));
    this.#isCompiled = false;
  }

  text(text: string): string {
    return this.#mask(text, null);
  }

  /** How many characters at the end of a cut text may be a part of a secret in this value; 0 if it contains none. */
  longestIn(value: Json): number {
    const found = new Set<Form>();
    if (this.#values.size > 0) this.#value(value, found);
    return Math.max(0, ...[...found].map(({ writtenLengthMax }) => writtenLengthMax));
  }

  #mask(text: string, found: Set<Form> | null): string {
    if (this.#values.size === 0 || text.length < LENGTH_MIN) return text;
    if (!this.#isCompiled) this.#compile();
    let masked = this.#replace(new DecodedText(text), text, found);
    for (const escapes of WAYS_OF_WRITING) {
      let decoded: DecodedText | null = new DecodedText(masked);
      for (const each of escapes) decoded = decoded?.decode(each) ?? null;
      if (decoded !== null) masked = this.#replace(decoded, masked, found);
    }
    return masked;
  }

  /** Searches in a decoded text, and replaces in the original. */
  #replace(decoded: DecodedText, original: string, found: Set<Form> | null): string {
    const { text } = decoded;
    let masked = '';
    let end = 0;
    for (let at = 0; at + LENGTH_MIN <= text.length; at += 1) {
      if (this.#starts[startOf(text, at)] === 0) continue;
      const forms = this.#forms.get(text.slice(at, at + LENGTH_MIN));
      const form = forms?.find((each) => text.startsWith(each.text, at));
      if (form === undefined) continue;
      found?.add(form);
      masked += original.slice(end, decoded.offset(at)) + form.mask;
      end = decoded.offset(at + form.text.length);
      at += form.text.length - 1;
    }
    return end === 0 ? original : masked + original.slice(end);
  }

  /** Also numbers and the names of members. The same value if there is nothing to mask. */
  value<Value extends Json>(value: Value): Value {
    // Only texts, numbers and names of members change.
    return (this.#values.size === 0 ? value : this.#value(value, null)) as Value;
  }

  #value(value: Json, found: Set<Form> | null): Json {
    if (typeof value === 'string') return this.#mask(value, found);
    if (typeof value === 'number' || typeof value === 'bigint') {
      const text = String(value);
      const masked = this.#mask(text, found);
      return masked === text ? value : masked;
    }
    if (Array.isArray(value)) {
      const items: readonly Json[] = value;
      const masked = items.map((item) => this.#value(item, found));
      return masked.some((item, index) => item !== items[index]) ? masked : items;
    }
    if (!isJsonObject(value)) return value;
    let isChanged = false;
    const masked: JsonObject = {};
    for (const [key, field] of Object.entries(value)) {
      const [maskedKey, maskedField] = [this.#mask(key, found), this.#value(field, found)];
      isChanged ||= maskedKey !== key || maskedField !== field;
      setField(masked, maskedKey, maskedField);
    }
    return isChanged ? masked : value;
  }

  #compile(): void {
    const forms = new Map<string, Form[]>();
    const starts = new Uint8Array(STARTS);
    for (const [name, values] of this.#values) {
      const mask = shownSecret(name);
      for (const [text, writtenLengthMax] of new Map(values.flatMap(formsOf))) {
        starts[startOf(text, 0)] = 1;
        const head = text.slice(0, LENGTH_MIN);
        const same = [...(forms.get(head) ?? []), { text, mask, writtenLengthMax }];
        forms.set(
          head,
          same.sort((a, b) => b.text.length - a.text.length),
        );
      }
    }
    this.#forms = forms;
    this.#starts = starts;
    this.#isCompiled = true;
  }
}

function startOf(text: string, at: number): number {
  return (text.charCodeAt(at) * 251 + text.charCodeAt(at + 1)) % STARTS;
}

/** With how long they can be, however they are written. */
function formsOf(value: string): readonly (readonly [string, number])[] {
  const lines = value.split(/\r?\n/);
  const known = lines.filter((line) => line.length >= LINE_LENGTH_MIN);
  // Lines that are not masked alone may all be before the cut.
  const others = lines.filter((line) => line.length < LINE_LENGTH_MIN).join('\n');
  const longest = Math.max(...[others, ...known].map((part) => Buffer.byteLength(part)));
  const writtenLengthMax = (longest + LINE_LENGTH_MIN) * WRITTEN_LENGTH_MAX;
  return [value, ...known]
    .flatMap(writtenForms)
    .filter((form) => form.length >= LENGTH_MIN)
    .map((form) => [form, writtenLengthMax] as const);
}

function writtenForms(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const inJson = JSON.stringify(value).slice(1, -1);
  const hex = bytes.toString('hex');
  const encoded = [0, 1, 2].flatMap((shift) => {
    const form = base64Core(bytes, shift);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
  // A space in a query may be a plus sign.
  const asQuery = value.replaceAll(' ', '+');
  return [value, ...hostForms(value), asQuery, inJson, hex, hex.toUpperCase(), ...encoded];
}

/**
 * As URLs write a host: in lower case, and its letters beyond ASCII in Punycode; numbers as an address. Whoever uses a value as one
 * says it in errors, logs and redirects.
 */
function hostForms(value: string): readonly string[] {
  const lower = value.toLowerCase();
  if (/[\s/?#@]/.test(value)) return [lower];
  const ascii = domainToASCII(value);
  return [lower, ascii, domainToUnicode(ascii)];
}

/** The characters of base64 that only these bytes determine, if `shift` bytes of a group of three come before them. */
function base64Core(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  const start = shift === 0 ? 0 : shift + 1;
  const rest = (shift + bytes.length) % 3;
  // A last group of one byte has one sure character, one of two bytes has two.
  const end = Math.floor((shift + bytes.length) / 3) * 4 + rest;
  return text.slice(start, end);
}
