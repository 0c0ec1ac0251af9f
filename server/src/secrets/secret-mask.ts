/**
 * Replaces the values of secrets by `***NAME***` in whatever comes back from outside: results, errors, logs.
 *
 *  SK1 A value is found as it is and as it is usually written elsewhere: in URLs, JSON texts, Base64 and hexadecimal.
 *  SK2 A text that was cut in the middle of a value loses the part of the value at its end, too.
 *  SK3 The time grows with the length of the text, not with the number of secrets.
 */
import { isJsonObject, setField, type Json, type JsonObject } from '../engine/values/json.js';

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

/** What may follow a text that was cut: tracebacks end with a summary in a line of its own. */
const CUT = ['…', '...', '\n'];

const PERCENT = /%[0-9a-f]{2}/i;

interface DecodedText {
  readonly text: string;
  /** Where a character of the text starts in the original. */
  readonly offset: (at: number) => number;
}

interface Form {
  readonly text: string;
  readonly mask: string;
}

export class SecretMask {
  /** The newest value last. */
  readonly #values = new Map<string, string[]>();
  /** The forms by their first characters, the longest first. */
  #forms = new Map<string, Form[]>();
  /** Whether a form may start with two characters: most places of a text are decided by this alone. */
  #starts = new Uint8Array(STARTS);

  add(name: string, value: string): void {
    const values = this.#values.get(name) ?? [];
    if (value.length < LENGTH_MIN || values.includes(value)) return;
    this.#values.set(name, [...values, value].slice(-VALUES_PER_NAME));
    this.#compile();
  }

  text(text: string): string {
    if (this.#forms.size === 0 || text.length < LENGTH_MIN) return text;
    const masked = this.#replace(text, { text, offset: (at) => at });
    // Which characters are written with a percent sign depends on the part of a URL, and on who wrote it.
    return PERCENT.test(masked) ? this.#replace(masked, decoded(masked)) : masked;
  }

  /** Searches in a decoded text, and replaces in the original. */
  #replace(original: string, { offset, text }: DecodedText): string {
    let masked = '';
    let end = 0;
    for (let at = 0; at + LENGTH_MIN <= text.length; at += 1) {
      if (this.#starts[startOf(text, at)] === 0) continue;
      const forms = this.#forms.get(text.slice(at, at + LENGTH_MIN));
      if (forms === undefined) continue;
      const found = foundAt(text, at, forms);
      if (found === null) continue;
      const { length, mask } = found;
      masked += original.slice(end, offset(at)) + mask;
      end = offset(at + length);
      at += length - 1;
    }
    return end === 0 ? original : masked + original.slice(end);
  }

  /** Also numbers and the names of members. The same value if there is nothing to mask. */
  value<Value extends Json>(value: Value): Value {
    // Only texts, numbers and names of members change.
    return (this.#forms.size === 0 ? value : this.#value(value)) as Value;
  }

  #value(value: Json): Json {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number' || typeof value === 'bigint') {
      const text = String(value);
      const masked = this.text(text);
      return masked === text ? value : masked;
    }
    if (Array.isArray(value)) {
      const items: readonly Json[] = value;
      const masked = items.map((item) => this.#value(item));
      return masked.some((item, index) => item !== items[index]) ? masked : items;
    }
    if (!isJsonObject(value)) return value;
    let isChanged = false;
    const masked: JsonObject = {};
    for (const [key, field] of Object.entries(value)) {
      const [maskedKey, maskedField] = [this.text(key), this.#value(field)];
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
      for (const text of new Set(values.flatMap(formsOf))) {
        starts[startOf(text, 0)] = 1;
        const head = text.slice(0, LENGTH_MIN);
        const same = [...(forms.get(head) ?? []), { text, mask }];
        forms.set(
          head,
          same.sort((a, b) => b.text.length - a.text.length),
        );
      }
    }
    this.#forms = forms;
    this.#starts = starts;
  }
}

/** The form that stands there, or the start of one, because the text was cut in the middle of it. */
function foundAt(
  text: string,
  at: number,
  forms: readonly Form[],
): { readonly length: number; readonly mask: string } | null {
  const whole = forms.find((form) => text.startsWith(form.text, at));
  if (whole !== undefined) return { length: whole.text.length, mask: whole.mask };
  for (const { mask, text: form } of forms) {
    let length = LENGTH_MIN;
    while (length < form.length && text[at + length] === form[length]) length += 1;
    const end = at + length;
    if (end >= text.length || CUT.some((sign) => text.startsWith(sign, end))) {
      return { length, mask };
    }
  }
  return null;
}

function startOf(text: string, at: number): number {
  return (text.charCodeAt(at) * 251 + text.charCodeAt(at + 1)) % STARTS;
}

function formsOf(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).filter((line) => line.length >= LINE_LENGTH_MIN);
  return [value, ...lines].flatMap(writtenForms).filter((form) => form.length >= LENGTH_MIN);
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
  return [value, value.replaceAll(' ', '+'), inJson, hex, hex.toUpperCase(), ...encoded];
}

/** Percent-encoded characters are decoded where they are UTF-8. */
function decoded(original: string): DecodedText {
  const offsets: number[] = [];
  let text = '';
  let end = 0;
  const copy = (to: number): void => {
    for (let at = end; at < to; at += 1) offsets.push(at);
    text += original.slice(end, to);
    end = to;
  };
  for (const { 0: run, index } of original.matchAll(/(?:%[0-9a-f]{2})+/gi)) {
    copy(index);
    const characters = Buffer.from(run.replaceAll('%', ''), 'hex').toString();
    if (characters.includes('\uFFFD')) continue;
    for (const character of characters) {
      for (let unit = 0; unit < character.length; unit += 1) offsets.push(end);
      end += Buffer.byteLength(character) * '%00'.length;
    }
    text += characters;
  }
  copy(original.length);
  return { text, offset: (at) => offsets[at] ?? original.length };
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
