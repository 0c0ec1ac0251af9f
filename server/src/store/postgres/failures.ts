/** Counts of failed instances on PostgreSQL: see sql/failures.ts. */
import { FAILURE_HOURS, HOUR_MS } from '../records/failures.js';
import { joined, sql, type Sql } from '../sql/conditions.js';
import * as failures from '../sql/failures.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type { PostgresContext } from './postgres-context.js';
import { runSteps } from './shared-operations.js';

const HOURS_AGO = `least(greatest((?::bigint - errorAt) / ${HOUR_MS}, 0), ${FAILURE_HOURS})`;

export function countFailures(
  { database }: PostgresContext,
  args: OperationArguments<'countFailures'>,
): Promise<OperationResult<'countFailures'>> {
  return runSteps(database, failures.countFailures(grouped, args));
}

/** The entries are read in the order of the index, which has the newest of each group first. */
function grouped(from: Sql, now: number): Sql {
  return joined([
    sql(
      `SELECT counts.*, i.definitionId, i.failure FROM (
       SELECT failureKey, status, hoursAgo, count(*) AS count, max(errorAt) AS lastAt,
              min(CASE WHEN failingErrorAt = errorAt THEN failingSince ELSE errorAt END) AS firstAt,
              (array_agg(id ORDER BY errorAt DESC, id DESC))[1] AS example
         FROM (SELECT failureKey, status, errorAt, failingSince, failingErrorAt, id, ${HOURS_AGO} AS hoursAgo`,
      now,
    ),
    from,
    sql(`ORDER BY errorAt DESC, id DESC) AS entry
        GROUP BY failureKey, status, hoursAgo
     ) AS counts JOIN @instances AS i ON i.id = counts.example`),
  ]);
}
