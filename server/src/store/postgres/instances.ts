/** Instances: reading one, lists, and counting. */
import type { CountOpenDescendants } from '../counted-inserts.js';
import type { OperationArguments } from '../operations.js';
import type { InstanceFilter } from '../records/instance-lists.js';
import type { InstanceRecord, InstanceSummary } from '../records/instances.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import type { Database } from './database.js';
import { instanceOf, RECORD_COLUMNS, SUMMARY_COLUMNS, summaryOf } from './instance-rows.js';
import { Parameters } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import { CHANGE_SPAN_MS } from './scans.js';

export async function getInstance(
  { database }: PostgresContext,
  [id]: OperationArguments<'getInstance'>,
): Promise<InstanceRecord | null> {
  const [row] = await database.query(`SELECT ${RECORD_COLUMNS} FROM @instances WHERE id = $1`, [
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

export async function listInstances(
  { database }: PostgresContext,
  [{ filter, after, limit }]: OperationArguments<'listInstances'>,
): Promise<readonly InstanceSummary[]> {
  const parameters = new Parameters();
  const conditions = conditionsOf(filter, parameters);
  const { time, order, direction, span } = orderOf(filter);
  if (after !== null) {
    const beyond = direction === 'DESC' ? '<' : '>';
    const position = `${parameters.add(after.time)}, ${parameters.add(encodeTextWithoutNul(after.id))}`;
    conditions.push(`(${time}, id) ${beyond} (${position})`);
    if (span !== null) {
      const value = parameters.add(Math.floor(after.time / CHANGE_SPAN_MS));
      conditions.push(`${span} >= ${value}`);
    }
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const found = await database.queryByValues(
    `SELECT ${SUMMARY_COLUMNS} FROM @instances ${where} ORDER BY ${order} LIMIT ${parameters.add(limit)}::bigint`,
    parameters.values,
  );
  return found.map(summaryOf);
}

function conditionsOf(filter: InstanceFilter, parameters: Parameters): string[] {
  const { status, definitionId, version, reference, startedFrom, startedTo } = filter;
  const { failedFrom, outcome, parentId, unchangedSince } = filter;
  const conditions: string[] = [];
  const add = (condition: string, value: string | number | undefined): void => {
    if (value === undefined) return;
    const cell = typeof value === 'string' ? encodeTextWithoutNul(value) : value;
    conditions.push(`${condition} ${parameters.add(cell)}`);
  };
  add('status =', status);
  add('definition_id =', definitionId);
  if (version !== undefined) conditions.push(`version = ${parameters.add(version)}::bigint`);
  add('reference =', reference);
  add('outcome =', outcome);
  add('parent_id =', parentId ?? undefined);
  add('start_time >=', startedFrom);
  add('start_time <', startedTo);
  add('error_at >=', failedFrom);
  if (unchangedSince !== undefined) {
    add('last_change_at <', unchangedSince);
    add('change_span <=', Math.floor(unchangedSince / CHANGE_SPAN_MS));
    conditions.push(`status IN ('Runnable', 'Suspended')`);
  }
  // These conditions match those of the partial indexes, which the planner cannot infer from a parameter.
  if (outcome === 'Succeeded') conditions.push(`status = 'Complete'`);
  else if (outcome !== undefined) conditions.push(`outcome <> 'Succeeded'`);
  if (parentId === null) conditions.push('parent_id IS NULL');
  return conditions;
}

interface ListOrder {
  readonly time: 'start_time' | 'error_at' | 'last_change_at';
  /** The indexed column that approximates the time, if the time itself is not indexed. */
  readonly span: 'change_span' | null;
  readonly order: string;
  readonly direction: 'ASC' | 'DESC';
}

function orderOf({ failedFrom, unchangedSince }: InstanceFilter): ListOrder {
  if (failedFrom !== undefined) {
    return { time: 'error_at', span: null, order: 'error_at DESC, id DESC', direction: 'DESC' };
  }
  if (unchangedSince !== undefined) {
    const order = 'change_span, last_change_at, id';
    return { time: 'last_change_at', span: 'change_span', order, direction: 'ASC' };
  }
  return { time: 'start_time', span: null, order: 'start_time DESC, id DESC', direction: 'DESC' };
}
