/** Translates the notation that the SQL stores share (SQL2) to that of SQLite. */
import type { SQLInputValue } from 'node:sqlite';
import type { SqlValue } from '../sql/columns.js';
import { encodeText } from '../text-codec.js';

const KNOWN_MAX = 1000;
const texts = new Map<string, string>();

export function encodeValue(value: SqlValue): SQLInputValue {
  if (typeof value === 'string') return encodeText(value);
  return typeof value === 'boolean' ? Number(value) : value;
}

export function translate(text: string): string {
  let known = texts.get(text);
  if (known === undefined) {
    known = text
      .replaceAll(/@(?=[a-z])|::[a-z]+/g, '')
      .replaceAll(/= (TRUE|FALSE)\b/g, (_, value) => (value === 'TRUE' ? '= 1' : '= 0'));
    if (texts.size === KNOWN_MAX) texts.clear();
    texts.set(text, known);
  }
  return known;
}
