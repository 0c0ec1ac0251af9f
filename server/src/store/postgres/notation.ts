/** Translates the notation that the SQL stores share (SQL2) to that of PostgreSQL. */
import type { SqlValue } from '../sql/columns.js';
import { encodeTextWithoutNul } from '../text-codec.js';

const KNOWN_MAX = 1000;
const names = new Map<string, string>();
const texts = new Map<string, string>();

/** `startTime` is `start_time`. */
export function columnName(member: string): string {
  let name = names.get(member);
  if (name === undefined) {
    name = member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (names.size === KNOWN_MAX) names.clear();
    names.set(member, name);
  }
  return name;
}

/** Its parameters are `$1`, `$2`, … */
export function translate(text: string): string {
  let known = texts.get(text);
  if (known === undefined) {
    let count = 0;
    known = text
      .replaceAll(/ INDEXED BY [a-z_]+/g, '')
      .replaceAll(/\b[a-z]+(?:[A-Z][a-z]*)+\b/g, columnName)
      .replaceAll('?', () => `$${(count += 1)}`);
    if (texts.size === KNOWN_MAX) texts.clear();
    texts.set(text, known);
  }
  return known;
}

export function encodeValue(value: SqlValue): SqlValue {
  return typeof value === 'string' ? encodeTextWithoutNul(value) : value;
}
