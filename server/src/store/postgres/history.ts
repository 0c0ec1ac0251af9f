/** Step records that no longer fit into the state of their instance. */
import type { OperationArguments } from '../store-operations.js';
import type { HistoryRecord } from '../records/instances.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { PostgresContext } from './postgres-context.js';

export async function readHistory(
  { database }: PostgresContext,
  [instanceId, from, limit]: OperationArguments<'readHistory'>,
): Promise<readonly HistoryRecord[]> {
  const found = await database.query(
    `SELECT sequence, body FROM @history WHERE instance_id = $1 AND sequence >= $2::bigint
      ORDER BY sequence LIMIT $3::bigint`,
    [encodeTextWithoutNul(instanceId), from, limit],
  );
  return found.map((row) => ({
    instanceId,
    sequence: row.number('sequence'),
    body: row.text('body'),
  }));
}
