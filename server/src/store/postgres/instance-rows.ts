/** Instances as rows. */
import { AUDIT_ENTRIES_MAX, type AuditEntry } from '../records/control.js';
import type { InstanceRecord } from '../records/instances.js';
import { OVERFLOW_MESSAGE } from '../records/messages.js';
import { SUMMARY_COLUMNS, summaryOf } from '../sql/instances.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { columnNames } from './parameters.js';
import type { Row } from './row.js';

export function encodeOptional(text: string | null): string | null {
  return text === null ? null : encodeTextWithoutNul(text);
}

/** The columns of an instance in a list. */
export const SUMMARY_NAMES = columnNames(SUMMARY_COLUMNS);
/** The columns of a whole instance. */
export const RECORD_NAMES = `${SUMMARY_NAMES}, inbox_ids, inbox_bodies, state`;

export function instanceOf(row: Row): InstanceRecord {
  const bodies = row.texts('inbox_bodies');
  return {
    ...summaryOf(row),
    // There are as many bodies as ids.
    inbox: row.texts('inbox_ids').map((id, index) => ({ id, body: bodies[index] ?? '' })),
    state: row.text('state'),
  };
}

/** The part of a statement that updates `wakes` for the instances in `source`, which the statement has changed. */
export function wakesOf(source: string): string {
  return `woken AS (
  INSERT INTO @wakes (id, owner, wake_at, under_way)
  SELECT id, owner, wake_at, under_way FROM ${source} WHERE wake_at IS NOT NULL OR under_way ORDER BY id
  ON CONFLICT (id) DO UPDATE SET owner = EXCLUDED.owner, wake_at = EXCLUDED.wake_at, under_way = EXCLUDED.under_way
)`;
}

/** Expressions for the message that replaces those that don't fit (rule S8), and for whether the inbox of `i` has it. */
export const OVERFLOW_ID = `'${OVERFLOW_MESSAGE.id}'::text`;
export const OVERFLOW_BODY = `'${OVERFLOW_MESSAGE.body}'::text`;
export const HAS_OVERFLOWED = `${OVERFLOW_ID} = ANY(i.inbox_ids)`;

/** An SQL expression for `PostedMessage.rested`, given the bytes of the messages that `i` has by now. */
export function restedWith(bytes: string): string {
  return `(i.inbox_bytes = ${bytes} AND NOT i.under_way AND i.crashes = 0)`;
}

/** The same step as in the column `change_span`. */
export const CHANGE_SPAN_MS = 8000;

export function auditBodyOf({ action, actor, detail, time }: AuditEntry): string {
  return encodeTextWithoutNul(JSON.stringify({ time, actor, action, detail }));
}

/** An SQL expression: the entries with others appended (null: none), without the oldest beyond the limit. */
export function appendedAudit(entries: string, added: string): string {
  const all = `(${entries} || ${added}::text[])`;
  return `${all}[greatest(1, cardinality(${all}) - ${AUDIT_ENTRIES_MAX - 1}):]`;
}
