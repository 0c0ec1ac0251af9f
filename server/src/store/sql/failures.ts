/** Counts of failed instances: see records/failures.ts. Each database groups them in a statement of its own. */
import { countEntries, type FailedEntry } from '../failure-counts.js';
import { failureIn } from '../json-columns.js';
import { sectionMaxOf, type FailureCount, type FailureFilter } from '../records/failures.js';
import type { IndexCondition } from '../records/index-conditions.js';
import type { InstancePosition } from '../records/instance-lists.js';
import type { InstanceFailure } from '../records/instances.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import {
  comparison,
  definitionConditions,
  fulfillsAll,
  joined,
  sql,
  whereOf,
  type Sql,
} from './conditions.js';
import { failingSinceOf, statusOf } from './instances.js';
import { search, searchOne, type SqlSteps } from './statements.js';
import type { StoredRow } from './stored-row.js';

const FROM = 'FROM @instances INDEXED BY instances_failed';
const NEWEST_FIRST = 'ORDER BY errorAt DESC, id DESC';

/** The columns of `entryOf`, and those of conditions. */
const ENTRY_NAMES =
  'id, definitionId, status, errorAt, failingSince, failingErrorAt, failureKey, failure, tags, fields';

/** @param grouped the statement that counts the instances which a `FROM` clause finds, with the columns of `countOf` */
export function* countFailures(
  grouped: (from: Sql, now: number) => Sql,
  [{ after, filter, now }]: OperationArguments<'countFailures'>,
): SqlSteps<OperationResult<'countFailures'>> {
  const countedTo = yield* sectionEnd(filter, after);
  const where = whereOf([
    ...timeConditions(filter, after),
    ...(countedTo === null ? [] : [position('>=', countedTo)]),
    ...groupConditions(filter),
  ]);
  const from = joined([sql(FROM), where, sql(NEWEST_FIRST)]);
  if (filter.where !== undefined) {
    const rows = yield* search(joined([sql(`SELECT ${ENTRY_NAMES}`), from]));
    return { counts: countEntries(matching(rows, filter.where), now), countedTo };
  }
  const rows = yield* search(grouped(joined([sql(FROM), where]), now));
  return { counts: Array.from(rows, countOf), countedTo };
}

function* matching(
  rows: Iterable<StoredRow>,
  where: readonly IndexCondition[],
): Generator<FailedEntry> {
  for (const row of rows) if (fulfillsAll(row, where)) yield entryOf(row);
}

/** Null: fewer entries are left than one call counts. */
function* sectionEnd(
  filter: FailureFilter,
  after: InstancePosition | null,
): SqlSteps<InstancePosition | null> {
  const last = sql(`${NEWEST_FIRST} LIMIT 1 OFFSET ${sectionMaxOf(filter) - 1}`);
  const row = yield* searchOne(
    joined([sql(`SELECT errorAt, id ${FROM}`), whereOf(timeConditions(filter, after)), last]),
  );
  return row === null ? null : { time: row.number('errorAt'), id: row.text('id') };
}

function timeConditions(
  { failedFrom, failedTo }: FailureFilter,
  after: InstancePosition | null,
): readonly Sql[] {
  return [
    sql('errorAt IS NOT NULL'),
    ...comparison('errorAt >= ?::bigint', failedFrom),
    ...comparison('errorAt < ?::bigint', failedTo),
    ...(after === null ? [] : [position('<', after)]),
  ];
}

function position(operator: '<' | '>=', { id, time }: InstancePosition): Sql {
  return sql(`(errorAt, id) ${operator} (?::bigint, ?::text)`, time, id);
}

function groupConditions(filter: FailureFilter): readonly Sql[] {
  const { keyPrefix, status } = filter;
  return [
    sql('failureKey IS NOT NULL'),
    ...definitionConditions(filter),
    ...comparison(`substr(failureKey, 1, ${keyPrefix?.length ?? 0}) = ?::text`, keyPrefix),
    ...comparison('status = ?::text', status),
  ];
}

function entryOf(row: StoredRow): FailedEntry {
  return {
    definitionId: row.text('definitionId'),
    failure: failureOf(row),
    status: statusOf(row),
    id: row.text('id'),
    time: row.number('errorAt'),
    failingSince: failingSinceOf(row),
  };
}

function countOf(row: StoredRow): FailureCount {
  return {
    definitionId: row.text('definitionId'),
    failure: failureOf(row),
    status: statusOf(row),
    hoursAgo: row.number('hoursAgo'),
    count: row.number('count'),
    firstAt: row.number('firstAt'),
    lastAt: row.number('lastAt'),
    example: row.text('example'),
  };
}

function failureOf(row: StoredRow): InstanceFailure {
  const failure = failureIn(row.text('failureKey'), row.textOrNull('failure'));
  if (failure === null) throw new TypeError('A counted failure has no key');
  return failure;
}
