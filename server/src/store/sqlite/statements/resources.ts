/** Removes expired resources. */
import type { OperationArguments } from '../../store-operations.js';
import type { Database } from '../database.js';

/** Apart from PostgreSQL, which finds them by `ctid`: a resource has two columns as its key. */
export function purgeResources(
  database: Database,
  [expiredBefore, limit]: OperationArguments<'purgeResources'>,
): number {
  return database.run(
    `DELETE FROM resources WHERE (kind, name) IN (
       SELECT kind, name FROM resources WHERE expiresAt < ? ORDER BY expiresAt LIMIT ?)`,
    expiredBefore,
    limit,
  );
}
