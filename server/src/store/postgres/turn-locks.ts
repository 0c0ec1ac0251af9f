/**
 * Locks of the turns of items (../records/turns.ts).
 *
 * Claims of a name whose items have fairness keys run one after another, under the lock of its queue. A commit or an insert adds the row
 * of a key, unless it exists, with the item. Meanwhile it holds a shared lock. Who removes rows of which nothing is in the queue holds
 * that lock alone, so it sees the items of everyone who has found the row. It takes it in a transaction of its own, after the lock of the
 * queue, and nobody waits for that one while it holds the shared lock.
 *
 * The rows of limits and places need no more than the lock of their key.
 */
import { fairQueueOf, type Line } from '../records/turns.js';
import type { SqlSteps } from '../sql/statements.js';
import type { Database, Statements } from './database.js';
import { lockKeys, lockOf } from './key-locks.js';
import { runSteps } from './shared-operations.js';

/** Identifies the shared lock. */
export function turnsLockOf(queue: string): bigint {
  return lockOf(`turns/${queue}`);
}

/** Until the transaction ends, nobody removes rows of these queues. */
export async function shareTurns(statements: Statements, queues: readonly string[]): Promise<void> {
  if (queues.length === 0) return;
  await statements.query(
    'SELECT pg_advisory_xact_lock_shared(key)::text FROM unnest($1::bigint[]) AS key',
    [queues.map((queue) => String(turnsLockOf(queue)))],
  );
}

/** Removes rows of the line, alone. */
export async function removeTurns(
  database: Database,
  { queue }: Line,
  stepsOf: () => SqlSteps<void>,
): Promise<void> {
  await database.transaction(async (statements) => {
    await lockKeys(statements, [queue]);
    if (fairQueueOf(queue).kind === 'items') await lockKeys(statements, [`turns/${queue}`]);
    await runSteps(statements, stepsOf());
  });
}
