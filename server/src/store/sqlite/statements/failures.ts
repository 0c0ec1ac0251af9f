/** Counts of failed instances on SQLite: see sql/failures.ts. */
import { FAILURE_HOURS, HOUR_MS } from '../../records/failures.js';
import { joined, sql, type Sql } from '../../sql/conditions.js';
import * as failures from '../../sql/failures.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';

/** The digits of a time in a text that sorts like the time. */
const TIME_DIGITS = 16;

const HOURS_AGO = `MIN(MAX(CAST((? - errorAt) / ${HOUR_MS} AS INTEGER), 0), ${FAILURE_HOURS})`;

export function countFailures(
  database: Database,
  args: OperationArguments<'countFailures'>,
): OperationResult<'countFailures'> {
  return runSteps(database, failures.countFailures(grouped, args));
}

/** SQLite takes the columns of the newest instance from one that sorts last as a text; it reads nothing but the index. */
function grouped(from: Sql, now: number): Sql {
  return joined([
    sql(
      `SELECT counts.*, substr(newest, ${TIME_DIGITS + 1}) AS example, definitionId, failure FROM (
        SELECT failureKey, status, ${HOURS_AGO} AS hoursAgo, COUNT(*) AS count,
               MIN(CASE WHEN failingErrorAt = errorAt THEN failingSince ELSE errorAt END) AS firstAt,
               MAX(errorAt) AS lastAt, MAX(printf('%0${TIME_DIGITS}d', errorAt) || id) AS newest`,
      now,
    ),
    from,
    sql(`GROUP BY 1, 2, 3) AS counts
      CROSS JOIN @instances ON instances.id = substr(newest, ${TIME_DIGITS + 1})`),
  ]);
}
