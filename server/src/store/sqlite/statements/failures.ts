/** Counts of failed instances: see records/failures.ts. */
import { countEntries, type FailedEntry } from '../../failure-counts.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import {
  FAILURE_HOURS,
  HOUR_MS,
  sectionMaxOf,
  type FailureFilter,
} from '../../records/failures.js';
import type { IndexCondition } from '../../records/index-conditions.js';
import type { InstancePosition } from '../../records/instance-lists.js';
import { fulfillsAll } from '../../sql/row-conditions.js';
import { encodeText } from '../../text-codec.js';
import { FAILED_ENTRY_NAMES, failedEntryOf, failureCountOf } from '../../sql/failures.js';
import type { Database } from '../database.js';
import { constant, definitionConditions, joined, type Sql, whereOf } from './list-paths.js';

const FROM = 'FROM instances INDEXED BY instances_failed';
/** The digits of a time in a text that sorts like the time. */
const TIME_DIGITS = 16;

export function countFailures(
  database: Database,
  [{ after, filter, now }]: OperationArguments<'countFailures'>,
): OperationResult<'countFailures'> {
  const countedTo = sectionEnd(database, filter, after);
  const entries = [
    ...timeConditions(filter, after),
    ...(countedTo === null ? [] : [position('>=', countedTo)]),
    ...groupConditions(filter),
  ];
  if (filter.where !== undefined) {
    const found = matchingEntries(database, entries, filter.where);
    return { counts: countEntries(found, now), countedTo };
  }
  const hoursAgo = `MIN(MAX(CAST((? - errorAt) / ${HOUR_MS} AS INTEGER), 0), ${FAILURE_HOURS})`;
  const { text, values } = joined([
    {
      text: `SELECT counts.*, definitionId, failure FROM (
        SELECT failureKey, status, ${hoursAgo} AS hoursAgo, COUNT(*) AS count,
               MIN(CASE WHEN failingErrorAt = errorAt THEN failingSince ELSE errorAt END) AS firstAt, MAX(errorAt) AS lastAt, MAX(printf('%0${TIME_DIGITS}d', errorAt) || id) AS example`,
      values: [now],
    },
    constant(FROM),
    whereOf(entries),
    constant(`GROUP BY 1, 2, 3) AS counts
      CROSS JOIN instances ON instances.id = substr(example, ${TIME_DIGITS + 1})`),
  ]);
  const counts = database.all(text, ...values).map((row) => {
    const count = failureCountOf(row);
    return { ...count, example: count.example.slice(TIME_DIGITS) };
  });
  return { counts, countedTo };
}

/** The newest errors first. */
function* matchingEntries(
  database: Database,
  conditions: readonly Sql[],
  where: readonly IndexCondition[],
): Generator<FailedEntry> {
  const { text, values } = joined([
    constant(`SELECT ${FAILED_ENTRY_NAMES} ${FROM}`),
    whereOf(conditions),
    constant('ORDER BY errorAt DESC, id DESC'),
  ]);
  for (const row of database.each(text, ...values)) {
    if (fulfillsAll(row, where)) yield failedEntryOf(row);
  }
}

/** Null: fewer entries are left than one call counts. */
function sectionEnd(
  database: Database,
  filter: FailureFilter,
  after: InstancePosition | null,
): InstancePosition | null {
  const { text, values } = joined([
    constant(`SELECT errorAt, id ${FROM}`),
    whereOf(timeConditions(filter, after)),
    constant(`ORDER BY errorAt DESC, id DESC LIMIT 1 OFFSET ${sectionMaxOf(filter) - 1}`),
  ]);
  const row = database.get(text, ...values);
  return row === null ? null : { time: row.number('errorAt'), id: row.text('id') };
}

function timeConditions(
  { failedFrom, failedTo }: FailureFilter,
  after: InstancePosition | null,
): readonly Sql[] {
  return [
    constant('errorAt IS NOT NULL'),
    ...(failedFrom === undefined ? [] : [{ text: 'errorAt >= ?', values: [failedFrom] }]),
    ...(failedTo === undefined ? [] : [{ text: 'errorAt < ?', values: [failedTo] }]),
    ...(after === null ? [] : [position('<', after)]),
  ];
}

function position(operator: '<' | '>=', { id, time }: InstancePosition): Sql {
  return { text: `(errorAt, id) ${operator} (?, ?)`, values: [time, encodeText(id)] };
}

function groupConditions(filter: FailureFilter): readonly Sql[] {
  const { keyPrefix, status } = filter;
  return [
    constant('failureKey IS NOT NULL'),
    ...definitionConditions(filter),
    ...(keyPrefix === undefined
      ? []
      : [{ text: `substr(failureKey, 1, ${keyPrefix.length}) = ?`, values: [keyPrefix] }]),
    ...(status === undefined ? [] : [{ text: 'status = ?', values: [status] }]),
  ];
}
