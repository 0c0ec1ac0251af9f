/** The parts of a statement that claim the instances to which it adds messages (S13). */
import type { InstanceRecord } from '../records/instances.js';
import { CLAIMED_STATE_BYTES_MAX, type MessageClaimer } from '../records/posted-messages.js';
import { instanceOf, RECORD_NAMES } from './instance-rows.js';
import type { Row } from './row.js';

const PREFIX = 'claimed_';

/** A cell with a claimer, so that each message of a statement has its own. */
export function claimCell(claimer: MessageClaimer | undefined): string | null {
  return claimer === undefined ? null : JSON.stringify(claimer);
}

/** An aggregate over the messages to one instance: one of their claimers. */
export const ONE_CLAIM = 'max(claim)::jsonb AS claim';

/** Assignments of an UPDATE of the instance `i`, as it was before the messages, by a claimer in a column of JSON. */
export function claimAssignments(claim: string): string {
  const claims = `coalesce(i.inbox_bytes = 0 AND NOT i.under_way AND i.crashes = 0 AND ${claim}->'from' ? i.owner
      AND i.schema_version <= (${claim}->>'schemaVersionMax')::bigint, false)`;
  return `owner = CASE WHEN ${claims} THEN ${claim}->>'owner' ELSE i.owner END, epoch = i.epoch + (${claims})::int`;
}

/**
 * For RETURNING: whether the instance `i` was claimed, and is short enough for the answer.
 *
 * @param before the epoch before the statement. If it was increased in between, by another claim for the same owner, the owner
 *   has the instance all the same, and the answer shows it as it is.
 */
export function isClaimed(claim: string, before: string): string {
  return `coalesce(i.owner = ${claim}->>'owner' AND i.epoch > ${before}
    AND octet_length(i.state) <= ${CLAIMED_STATE_BYTES_MAX}, false)`;
}

/** The columns that `claimedIn` reads; null unless the condition is true. */
export function claimedColumns(source: string, condition: string): string {
  const names = RECORD_NAMES.split(', ');
  return names
    .map((name) => `CASE WHEN ${condition} THEN ${source}.${name} END AS ${PREFIX}${name}`)
    .join(', ');
}

export function claimedIn(row: Row): { readonly claimed?: InstanceRecord } {
  const claimed = row.within(PREFIX);
  return claimed.textOrNull('id') === null ? {} : { claimed: instanceOf(claimed) };
}
