/**
 * The side records that a commit or an insert adds and removes. Everything happens in one transaction, so the order
 * doesn't matter.
 */
import type { NewActivityRecord } from '../../records/activities.js';
import { AUDIT_ENTRIES_MAX, type AuditEntry } from '../../records/control.js';
import type { InstanceCommit, SideRecords } from '../../records/instances.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { insertActivity, removeActivity, settleActivity } from './activity-rows.js';

/** Returns the items that were added, without those that existed. */
export function insertSideRecords(
  database: Database,
  side: SideRecords,
): readonly NewActivityRecord[] {
  for (const { instanceId, sequence, body } of side.history) {
    database.run(
      'INSERT OR REPLACE INTO history (instanceId, sequence, body) VALUES (?, ?, ?)',
      encodeText(instanceId),
      sequence,
      encodeText(body),
    );
  }
  for (const { id, instanceId, nameKey, effectiveAt } of side.subscriptions) {
    database.run(
      'INSERT OR REPLACE INTO subscriptions (id, instanceId, nameKey, effectiveAt) VALUES (?, ?, ?, ?)',
      encodeText(id),
      encodeText(instanceId),
      encodeText(nameKey),
      effectiveAt,
    );
  }
  return side.activities.filter((activity) => insertActivity(database, activity));
}

export function removeSideRecords(database: Database, commit: InstanceCommit): void {
  for (const id of commit.removeSubscriptions) {
    database.run('DELETE FROM subscriptions WHERE id = ?', encodeText(id));
  }
  for (const id of commit.removeActivities) removeActivity(database, id, commit.lastChangeAt);
  for (const id of commit.settleActivities) settleActivity(database, id);
}

/** Runs in the transaction that performs the recorded action. */
export function noteAction(
  database: Database,
  instanceId: string,
  entry: AuditEntry | undefined,
): void {
  if (entry === undefined) return;
  const id = encodeText(instanceId);
  const last = database.get('SELECT MAX(sequence) AS n FROM actions WHERE instanceId = ?', id);
  const sequence = (last?.numberOrNull('n') ?? 0) + 1;
  const { time, actor, action, detail } = entry;
  database.run(
    'INSERT INTO actions (instanceId, sequence, body) VALUES (?, ?, ?)',
    id,
    sequence,
    encodeText(JSON.stringify({ time, actor, action, detail })),
  );
  database.run(
    'DELETE FROM actions WHERE instanceId = ? AND sequence <= ?',
    id,
    sequence - AUDIT_ENTRIES_MAX,
  );
}
