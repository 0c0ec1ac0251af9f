/** Removes expired resources. */
import type { OperationArguments } from '../store-operations.js';
import type { PostgresContext } from './postgres-context.js';

/** Apart from SQLite, which finds them by their key: PG9 allows only one column. */
export function purgeResources(
  { database }: PostgresContext,
  [expiredBefore, limit]: OperationArguments<'purgeResources'>,
): Promise<number> {
  return database.execute(
    `DELETE FROM @resources WHERE ctid = ANY (ARRAY(
       SELECT ctid FROM @resources WHERE expires_at IS NOT NULL AND expires_at < $1::bigint
       ORDER BY expires_at, kind, name LIMIT $2::bigint FOR UPDATE))`,
    [expiredBefore, limit],
  );
}
