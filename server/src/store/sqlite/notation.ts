/** Translates the notation that the SQL stores share (SQL2) to that of SQLite. */
import type { SQLInputValue } from 'node:sqlite';
import { StorableText, type SqlParameter } from '../sql/columns.js';
import { cached } from '../sql/statements.js';
import { encodeText } from '../text-codec.js';

export function encodeValue(value: SqlParameter): SQLInputValue {
  if (value instanceof StorableText) return value.text;
  if (typeof value === 'string') return encodeText(value);
  return typeof value === 'boolean' ? Number(value) : value;
}

export const translate = cached((text) =>
  text
    .replaceAll(/@(?=[a-z])|::[a-z]+/g, '')
    .replaceAll(/\{(AND [^}]*)\}/g, '$1')
    .replaceAll(/= (TRUE|FALSE)\b/g, (_, value) => (value === 'TRUE' ? '= 1' : '= 0')),
);
