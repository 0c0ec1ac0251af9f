/** Instances: reading one, and counting open descendants. */
import type { CountOpenDescendants } from '../counted-inserts.js';
import type { OperationArguments } from '../store-operations.js';
import type { InstanceRecord } from '../records/instances.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { instanceOf, RECORD_NAMES } from './instance-rows.js';
import type { PostgresContext } from './postgres-context.js';

export async function getInstance(
  { database }: PostgresContext,
  [id]: OperationArguments<'getInstance'>,
): Promise<InstanceRecord | null> {
  const [row] = await database.query(`SELECT ${RECORD_NAMES} FROM @instances WHERE id = $1`, [
    encodeTextWithoutNul(id),
  ]);
  return row === undefined ? null : instanceOf(row);
}

/** Reads at most `max` entries of the index. */
export function countOpenDescendants(database: Database): CountOpenDescendants {
  return async (rootId, max) => {
    const [row] = await database.query(
      `SELECT count(*) AS open FROM (
         SELECT 1 FROM @instances WHERE root_id = $1 AND status IN ('Runnable', 'Suspended') LIMIT $2::bigint
       ) AS descendants`,
      [encodeTextWithoutNul(rootId), max],
    );
    return row?.number('open') ?? 0;
  };
}
