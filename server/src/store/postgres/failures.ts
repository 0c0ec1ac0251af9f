/** Counts of failed instances: see records/failures.ts. */
import { countEntries, type FailedEntry } from '../failure-counts.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { FAILURE_HOURS, HOUR_MS, sectionMaxOf, type FailureFilter } from '../records/failures.js';
import type { InstancePosition } from '../records/instance-lists.js';
import { FAILED_ENTRY_NAMES, failedEntryOf, failureCountOf } from '../sql/failures.js';
import { fulfillsAll } from '../sql/row-conditions.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { translate } from './notation.js';
import { definitionConditions, whereOf } from './list-paths.js';
import { Parameters } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';

const FAILING_SINCE = 'CASE WHEN failing_error_at = error_at THEN failing_since ELSE error_at END';

export async function countFailures(
  { database }: PostgresContext,
  [{ after, filter, now }]: OperationArguments<'countFailures'>,
): Promise<OperationResult<'countFailures'>> {
  const countedTo = await sectionEnd(database, filter, after);
  if (filter.where !== undefined) {
    const entries = await matchingEntries(database, { filter, after, countedTo });
    return { counts: countEntries(entries, now), countedTo };
  }
  const parameters = new Parameters();
  const hoursAgo = `least(greatest((${parameters.add(now)}::bigint - error_at) / ${HOUR_MS}, 0), ${FAILURE_HOURS})`;
  const entries = sectionConditions({ filter, after, countedTo }, parameters);
  const rows = await database.queryByValues(
    `SELECT counts.*, i.definition_id, i.failure FROM (
       SELECT failure_key, status, hours_ago, count(*) AS count, min(${FAILING_SINCE}) AS first_at, max(error_at) AS last_at,
              (array_agg(id ORDER BY error_at DESC, id DESC))[1] AS example
         FROM (SELECT failure_key, status, error_at, failing_since, failing_error_at, id, ${hoursAgo} AS hours_ago
                 FROM @instances ${whereOf(entries)} ORDER BY error_at DESC, id DESC) AS entry
        GROUP BY failure_key, status, hours_ago
     ) AS counts JOIN @instances AS i ON i.id = counts.example`,
    parameters.values,
  );
  return { counts: rows.map(failureCountOf), countedTo };
}

interface Section {
  readonly filter: FailureFilter;
  readonly after: InstancePosition | null;
  readonly countedTo: InstancePosition | null;
}

function sectionConditions(
  { after, countedTo, filter }: Section,
  parameters: Parameters,
): readonly string[] {
  return [
    ...timeConditions(filter, after, parameters),
    ...(countedTo === null ? [] : [position('>=', countedTo, parameters)]),
    ...groupConditions(filter, parameters),
  ];
}

/** The newest errors first. */
async function matchingEntries(
  database: Database,
  section: Section,
): Promise<readonly FailedEntry[]> {
  const parameters = new Parameters();
  const rows = await database.queryByValues(
    `SELECT ${translate(FAILED_ENTRY_NAMES)} FROM @instances
      ${whereOf(sectionConditions(section, parameters))} ORDER BY error_at DESC, id DESC`,
    parameters.values,
  );
  return rows.filter((row) => fulfillsAll(row, section.filter.where ?? [])).map(failedEntryOf);
}

/** Null: fewer entries are left than one call counts. */
async function sectionEnd(
  database: Database,
  filter: FailureFilter,
  after: InstancePosition | null,
): Promise<InstancePosition | null> {
  const parameters = new Parameters();
  const [row] = await database.queryByValues(
    `SELECT error_at, id FROM @instances ${whereOf(timeConditions(filter, after, parameters))}
      ORDER BY error_at DESC, id DESC LIMIT 1 OFFSET ${sectionMaxOf(filter) - 1}`,
    parameters.values,
  );
  return row === undefined ? null : { time: row.number('error_at'), id: row.text('id') };
}

function timeConditions(
  { failedFrom, failedTo }: FailureFilter,
  after: InstancePosition | null,
  parameters: Parameters,
): readonly string[] {
  return [
    'error_at IS NOT NULL',
    ...(failedFrom === undefined ? [] : [`error_at >= ${parameters.add(failedFrom)}::bigint`]),
    ...(failedTo === undefined ? [] : [`error_at < ${parameters.add(failedTo)}::bigint`]),
    ...(after === null ? [] : [position('<', after, parameters)]),
  ];
}

function position(
  operator: '<' | '>=',
  { id, time }: InstancePosition,
  parameters: Parameters,
): string {
  const place = `${parameters.add(time)}::bigint, ${parameters.add(encodeTextWithoutNul(id))}::text`;
  return `(error_at, id) ${operator} (${place})`;
}

function groupConditions(filter: FailureFilter, parameters: Parameters): readonly string[] {
  const { keyPrefix, status } = filter;
  return [
    'failure_key IS NOT NULL',
    ...definitionConditions(filter, parameters),
    ...(keyPrefix === undefined
      ? []
      : [`left(failure_key, ${keyPrefix.length}) = ${parameters.add(keyPrefix)}::text`]),
    ...(status === undefined ? [] : [`status = ${parameters.add(status)}::text`]),
  ];
}
