/** Translates the notation that the SQL stores share (SQL2) to that of PostgreSQL. */
import type { SqlValue } from '../sql/columns.js';
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
    .replaceAll(/ INDEXED BY [a-z_]+/g, '')
    .replaceAll(/\b[a-z]+(?:[A-Z][a-z]*)+\b/g, columnName)
    .replaceAll('?', () => `$${(count += 1)}`);
});

export function encodeValue(value: SqlValue): SqlValue {
  return typeof value === 'string' ? encodeTextWithoutNul(value) : value;
}
