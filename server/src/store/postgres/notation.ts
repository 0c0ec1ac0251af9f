/** Translates the notation that the SQL stores share (SQL2) to that of PostgreSQL. */
import { StorableText, type SqlParameter, type SqlValue } from '../sql/columns.js';
import { cached } from '../sql/statements.js';
import { encodeTextWithoutNul } from '../text-codec.js';

/** `startTime` is `start_time`. */
export const columnName = cached((member) =>
  member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);

/** Its parameters are `$1`, `$2`, … */
export const translate = cached((text) => {
  let count = 0;
  return text
    .replaceAll(/ INDEXED BY [a-z_]+| \{AND [^}]*\}/g, '')
    .replaceAll('instr(', 'strpos(')
    .replaceAll(/\b[a-z]+(?:[A-Z][a-z]*)+\b/g, columnName)
    .replaceAll('?', () => `$${(count += 1)}`);
});

export function encodeValue(value: SqlParameter): SqlValue {
  // No value may contain U+0000, but a text that is searched for may.
  if (value instanceof StorableText) return withoutNul(value.text);
  return typeof value === 'string' ? encodeTextWithoutNul(value) : value;
}

export function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u0001');
}
