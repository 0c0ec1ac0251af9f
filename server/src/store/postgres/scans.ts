/** Instances that need a node: those that are due, and those of a dead node. */
import type { OperationArguments } from '../store-operations.js';
import type { DueInstance, InstanceClaim } from '../records/instances.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { Parameters } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

/** The same step as in the column `change_span`. */
export const CHANGE_SPAN_MS = 8000;

const CLAIM_COLUMNS =
  'i.id, i.owner, i.epoch, i.wake_at, i.under_way, i.crashes, i.last_change_at, i.schema_version';

export async function findDueInstances(
  { database }: PostgresContext,
  [dueBefore, limit, after]: OperationArguments<'findDueInstances'>,
): Promise<readonly DueInstance[]> {
  const parameters = new Parameters();
  const conditions = [`w.wake_at <= ${parameters.add(dueBefore)}`];
  if (after !== undefined) {
    const position = `${parameters.add(after.wakeAt)}, ${parameters.add(encodeTextWithoutNul(after.id))}`;
    conditions.push(`(w.wake_at, w.id) > (${position})`);
  }
  const found = await database.query(
    `SELECT ${CLAIM_COLUMNS}, w.wake_at AS due_at FROM @wakes AS w JOIN @instances AS i ON i.id = w.id
      WHERE ${conditions.join(' AND ')} ORDER BY w.wake_at, w.id LIMIT ${parameters.add(limit)}::bigint`,
    parameters.values,
  );
  return found.map((row) => ({ ...claimOf(row), wakeAt: row.number('due_at') }));
}

export async function findInstancesUnderWay(
  { database }: PostgresContext,
  [owner, afterId, limit]: OperationArguments<'findInstancesUnderWay'>,
): Promise<readonly InstanceClaim[]> {
  const parameters = new Parameters();
  const conditions = ['w.under_way', `w.owner = ${parameters.add(encodeTextWithoutNul(owner))}`];
  if (afterId !== null) conditions.push(`w.id > ${parameters.add(encodeTextWithoutNul(afterId))}`);
  const found = await database.query(
    `SELECT ${CLAIM_COLUMNS} FROM @wakes AS w JOIN @instances AS i ON i.id = w.id
      WHERE ${conditions.join(' AND ')} ORDER BY w.id LIMIT ${parameters.add(limit)}::bigint`,
    parameters.values,
  );
  return found.map(claimOf);
}

/** Uses the index on `change_span`; only the rows of one span have to be sorted. */
export async function findChangedInstances(
  { database }: PostgresContext,
  [owner, after, limit]: OperationArguments<'findChangedInstances'>,
): Promise<readonly InstanceClaim[]> {
  const found = await database.query(
    `SELECT ${CLAIM_COLUMNS} FROM @instances AS i
      WHERE i.status = 'Runnable' AND i.owner = $1 AND i.change_span >= $2 AND (i.last_change_at, i.id) > ($3, $4)
      ORDER BY i.change_span, i.last_change_at, i.id LIMIT $5::bigint`,
    [
      encodeTextWithoutNul(owner),
      Math.floor(after.time / CHANGE_SPAN_MS),
      after.time,
      encodeTextWithoutNul(after.id),
      limit,
    ],
  );
  return found.map(claimOf);
}

function claimOf(row: Row): InstanceClaim {
  return {
    id: row.text('id'),
    owner: row.textOrNull('owner'),
    epoch: row.number('epoch'),
    wakeAt: row.numberOrNull('wake_at'),
    underWay: row.boolean('under_way'),
    crashes: row.number('crashes'),
    lastChangeAt: row.number('last_change_at'),
    schemaVersion: row.number('schema_version'),
  };
}
