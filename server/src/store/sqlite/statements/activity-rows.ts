/** Activities as rows: inserting, reading, and the changes that follow from changes of their instance. */
import type { ActivityRecord, NewActivityRecord } from '../../records/activities.js';
import { activityOf, needsText } from '../../sql/activities.js';
import { itemsLineOf } from '../../sql/item-turns.js';
import { putTurn } from '../../sql/turns.js';
import { encodeOptional, encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';

/**
 * An existing item with the same content keeps its position and its holder; if it has no holder, the claim of the new
 * item applies. Different content replaces it, because the pass that offered the old item wasn't committed.
 */
const INSERT_ACTIVITY = `
INSERT INTO activities (id, instanceId, name, priority, fairnessKey, fairnessWeight, createdAt, availableAt, deferred, attempt,
                        tokenHash, workerId, done, settled, needs, parameters)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, 0, 0, ?, ?)`;

/** False: the same item exists. */
export function insertActivity(database: Database, item: NewActivityRecord): boolean {
  const id = encodeText(item.id);
  const known = readActivity(database, item.id);
  if (known !== null && known.name === item.name && known.parameters === item.parameters) {
    if (item.claim === undefined || known.done || known.withdrawn) return false;
    if (known.tokenHash !== null) return false;
    database.run(
      'UPDATE activities SET availableAt = ?, deferred = 0, attempt = attempt + 1, tokenHash = ?, workerId = ? WHERE id = ?',
      item.claim.leaseExpiresAt,
      encodeText(item.claim.tokenHash),
      encodeText(item.claim.workerId),
      id,
    );
    return false;
  }
  if (known !== null) database.run('DELETE FROM activities WHERE id = ?', id);
  database.run(
    INSERT_ACTIVITY,
    id,
    encodeText(item.instanceId),
    encodeText(item.name),
    item.priority,
    encodeText(item.fairness?.key ?? ''),
    item.fairness?.weight ?? 1,
    item.createdAt,
    item.claim?.leaseExpiresAt ?? item.createdAt,
    item.claim === undefined ? 0 : 1,
    item.claim === undefined ? null : encodeText(item.claim.tokenHash),
    item.claim === undefined ? null : encodeText(item.claim.workerId),
    encodeOptional(needsText(item)),
    encodeText(item.parameters),
  );
  runSteps(database, putTurn(itemsLineOf(item), { ...item, since: item.createdAt }));
  return true;
}

export function readActivity(database: Database, id: string): ActivityRecord | null {
  const row = database.get('SELECT * FROM activities WHERE id = ?', encodeText(id));
  return row === null ? null : activityOf(row);
}

export function settleActivity(database: Database, id: string): void {
  database.run('UPDATE activities SET settled = 1 WHERE id = ? AND done = 1', encodeText(id));
}

/** A commit no longer needs the item. `at`: when it was removed. */
export function removeActivity(database: Database, id: string, at: number): void {
  database.run(
    'UPDATE activities SET done = 1, doneAt = ? WHERE id = ? AND done = 0 AND settled = 1 AND tokenHash IS NOT NULL',
    at,
    encodeText(id),
  );
  database.run('DELETE FROM activities WHERE id = ? AND done = 0', encodeText(id));
}

/** No instance will apply results once it has ended. */
export function settleAllOf(database: Database, instanceId: string): void {
  database.run(
    'UPDATE activities SET settled = 1 WHERE instanceId = ? AND done = 1 AND settled = 0',
    encodeText(instanceId),
  );
}

export function makeDeferredAvailable(database: Database, instanceId: string): void {
  database.run(
    'UPDATE activities SET availableAt = createdAt, deferred = 0 WHERE instanceId = ? AND deferred = 1',
    encodeText(instanceId),
  );
}
