/**
 * Keyed starts that joined an open instance, by the id that they gave: a repeated one gets the same answer, and a start with
 * this id and another request is recognized. They are kept for as long as ended instances are, or until the joined instance is
 * purged.
 */
import { indexIn, indexText, tagsIn, tagsText } from './json-columns.js';
import type { IdempotencyStamp } from './records/definitions.js';
import type { InstanceRecord } from './records/instances.js';

export interface JoinedStart extends IdempotencyStamp {
  readonly instanceId: string;
  readonly joinedAt: number;
  /** The instance as it was then, see `recordIn`; null: it was not kept. */
  readonly body: string | null;
}

/** Null: the start has no key. */
export function joinedStartOf(
  { id, requestHash, startTime }: InstanceRecord,
  joined: InstanceRecord,
): JoinedStart | null {
  if (requestHash === null) return null;
  return { id, requestHash, instanceId: joined.id, joinedAt: startTime, body: bodyOf(joined) };
}

/** A start that joins the window of an instance: the instance is read when the start is repeated. */
export function windowStartOf(
  { id, requestHash, startTime }: InstanceRecord,
  instanceId: string,
): JoinedStart | null {
  return requestHash === null
    ? null
    : { id, requestHash, instanceId, joinedAt: startTime, body: null };
}

function bodyOf(record: InstanceRecord): string {
  const texts = { tags: tagsText(record.tags), index: indexText(record.index) };
  return JSON.stringify({ ...record, inbox: [], ...texts });
}

/** @param body written by `bodyOf` */
export function recordIn(body: string): InstanceRecord {
  type Stored = Omit<InstanceRecord, 'tags' | 'index'> &
    Readonly<Record<'tags' | 'index', string | null>>;
  const stored = JSON.parse(body) as Stored;
  return { ...stored, tags: tagsIn(stored.tags), index: indexIn(stored.index) };
}
