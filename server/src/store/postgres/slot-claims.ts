/** Claims of items that need slots (rule S15): each in a transaction of its own, which first takes the locks of the keys. */
import type { ActivityRecord } from '../records/activities.js';
import { slotsKeyOf, type LimitKey } from '../records/slots.js';
import { activityOf } from '../sql/activities.js';
import { claimSlots, limitSame } from '../sql/item-slots.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database, Statements } from './database.js';
import { lockKeys } from './key-locks.js';
import type { ActivityClaimRequest } from './postgres-context.js';
import { runSteps } from './shared-operations.js';

/**
 * Returns the key for which the item waits from now on if it can't have its slots; null: it is no longer available.
 * @param item the id, and whether the call has already passed over others: then all that need the same wait with it
 */
export function claimWithSlots(
  database: Database,
  request: ActivityClaimRequest,
  item: { readonly id: string; readonly isRepeated: boolean },
): Promise<ActivityRecord | LimitKey | null> {
  return database.transaction((statements) => claimNeedingSlots(statements, request, item));
}

/** The same, in a transaction that has taken no lock of slots. */
export async function claimNeedingSlots(
  statements: Statements,
  { claim, now }: ActivityClaimRequest,
  item: { readonly id: string; readonly isRepeated: boolean },
): Promise<ActivityRecord | LimitKey | null> {
  const id = encodeTextWithoutNul(item.id);
  const [known] = await statements.query('SELECT * FROM @activities WHERE id = $1', [id]);
  if (known === undefined) return null;
  const { needs = [] } = activityOf(known);
  await lockKeys(statements, needs.map(slotsKeyOf));
  const found = await findAvailable(statements, id, now);
  if (found === null) return null;
  const on = await runSteps(statements, claimSlots(found, now));
  if (on !== null) {
    if (item.isRepeated) await runSteps(statements, limitSame(found, on, now));
    return on;
  }
  const [taken] = await statements.query(
    `UPDATE @activities SET available_at = $2::bigint, deferred = false, attempt = attempt + 1, token_hash = $3, worker_id = $4
      WHERE id = $1 RETURNING *`,
    [
      id,
      claim.leaseExpiresAt,
      encodeTextWithoutNul(claim.tokenHash),
      encodeTextWithoutNul(claim.workerId),
    ],
  );
  return taken === undefined ? null : activityOf(taken);
}

async function findAvailable(
  statements: Statements,
  id: string,
  now: number,
): Promise<ActivityRecord | null> {
  const [row] = await statements.query(
    `SELECT item.* FROM @activities AS item JOIN @instances AS instance ON instance.id = item.instance_id
      WHERE item.id = $1 AND NOT item.done AND NOT item.settled AND item.available_at <= $2::bigint
        AND instance.status = 'Runnable' FOR UPDATE OF item`,
    [id, now],
  );
  return row === undefined ? null : activityOf(row);
}
