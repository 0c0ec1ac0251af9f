/** Counts of failed instances: see records/failures.ts. */
import { countEntries, type FailedEntry } from '../../failure-counts.js';
import { failureIn } from '../../json-columns.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import {
  FAILURE_HOURS,
  HOUR_MS,
  sectionMaxOf,
  type FailureCount,
  type FailureFilter,
} from '../../records/failures.js';
import type { IndexCondition } from '../../records/index-conditions.js';
import type { InstancePosition } from '../../records/instance-lists.js';
import type { InstanceFailure } from '../../records/instances.js';
import { fulfillsAll } from '../../row-conditions.js';
import { encodeText } from '../../text-codec.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';
import { failingSinceOf, statusOf } from './instance-rows.js';
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
        SELECT failureKey AS key, status AS counted, ${hoursAgo} AS hoursAgo, COUNT(*) AS count,
               MIN(CASE WHEN failingErrorAt = errorAt THEN failingSince ELSE errorAt END) AS firstAt, MAX(errorAt) AS lastAt, MAX(printf('%0${TIME_DIGITS}d', errorAt) || id) AS example`,
      values: [now],
    },
    constant(FROM),
    whereOf(entries),
    constant(`GROUP BY 1, 2, 3) AS counts
      CROSS JOIN instances ON instances.id = substr(example, ${TIME_DIGITS + 1})`),
  ]);
  return { counts: database.all(text, ...values).map(countOf), countedTo };
}

/** The newest errors first. */
function* matchingEntries(
  database: Database,
  conditions: readonly Sql[],
  where: readonly IndexCondition[],
): Generator<FailedEntry> {
  const { text, values } = joined([
    constant(
      `SELECT id, definitionId, status, errorAt, failingSince, failingErrorAt, failureKey AS key, failure, tags, fields ${FROM}`,
    ),
    whereOf(conditions),
    constant('ORDER BY errorAt DESC, id DESC'),
  ]);
  for (const row of database.each(text, ...values)) {
    if (!fulfillsAll(row, where)) continue;
    yield {
      definitionId: row.text('definitionId'),
      failure: failureOf(row),
      status: statusOf(row.text('status')),
      id: row.text('id'),
      time: row.number('errorAt'),
      failingSince: failingSinceOf(row),
    };
  }
}

function failureOf(row: Row): InstanceFailure {
  const failure = failureIn(row.text('key'), row.textOrNull('failure'));
  if (failure === null) throw new TypeError('A counted failure has no key');
  return failure;
}

function countOf(row: Row): FailureCount {
  return {
    definitionId: row.text('definitionId'),
    failure: failureOf(row),
    status: statusOf(row.text('counted')),
    hoursAgo: row.number('hoursAgo'),
    count: row.number('count'),
    firstAt: row.number('firstAt'),
    lastAt: row.number('lastAt'),
    example: row.text('example').slice(TIME_DIGITS),
  };
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
