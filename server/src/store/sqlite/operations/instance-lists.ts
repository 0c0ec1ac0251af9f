/** Lists of instances, and counting them: see search-plan.ts. */
import { indexIn, tagsIn } from '../../field-text.js';
import type { OperationArguments, OperationResult } from '../../operations.js';
import { fulfills, type IndexCondition } from '../../records/index-conditions.js';
import type { InstanceFilter, InstancePosition } from '../../records/instance-lists.js';
import type { InstanceSummary } from '../../records/instances.js';
import { shortestPath, SHORT_PATH_MAX, walkSteps } from '../../search-plan.js';
import type { Database } from '../database.js';
import type { Row } from '../row.js';
import { SUMMARY_COLUMNS, summaryOf } from './instance-rows.js';
import {
  columnConditions,
  constant,
  joined,
  type ListPath,
  orderOf,
  pathsOf,
  type Sql,
  unservedConditions,
  whereOf,
} from './list-paths.js';

export function listInstances(
  database: Database,
  [{ after, filter, limit }]: OperationArguments<'listInstances'>,
): OperationResult<'listInstances'> {
  const walk = planWalk(database, filter);
  const items: InstanceSummary[] = [];
  let position = after;
  for (const step of walkSteps(limit)) {
    const query = instancesOn(walk, position, step, SUMMARY_COLUMNS);
    for (const row of database.each(query.text, ...query.values)) {
      if (!fulfillsAll(row, walk.where)) continue;
      items.push(summaryOf(row));
      if (items.length === limit) return { items, searchedTo: null };
    }
    position = positionAfter(database, walk, position, step);
    if (position === null) return { items, searchedTo: null };
  }
  return { items, searchedTo: position };
}

export function countInstances(
  database: Database,
  [{ after, filter, max }]: OperationArguments<'countInstances'>,
): OperationResult<'countInstances'> {
  const walk = planWalk(database, filter);
  let count = 0;
  let position = after;
  for (const step of walkSteps(max)) {
    count += countOn(database, walk, position, step);
    if (count >= max) return { count: max, searchedTo: null };
    position = positionAfter(database, walk, position, step);
    if (position === null) break;
  }
  return { count, searchedTo: position };
}

/** How the instances of a list are found. */
interface Walk {
  readonly filter: InstanceFilter;
  readonly path: ListPath;
  /** Whether the path goes through the instances, not through terms. */
  readonly isDirect: boolean;
  /** Conditions that not all instances on the path fulfill. */
  readonly columns: readonly Sql[];
  readonly where: readonly IndexCondition[];
}

function planWalk(database: Database, filter: InstanceFilter): Walk {
  const paths = pathsOf(filter);
  const path = shortestPath(paths, lengthsOf(database, paths));
  const isDirect = path === paths.at(-1);
  return {
    filter,
    path,
    isDirect,
    columns: isDirect ? unservedConditions(filter) : columnConditions(filter),
    where: (filter.where ?? []).filter((condition) => condition !== path.covers),
  };
}

/** Up to one more than a short path has. There is nothing to compare if there is only one. */
function lengthsOf(database: Database, paths: readonly ListPath[]): readonly number[] {
  if (paths.length === 1) return [0];
  return paths.map(({ counted: { text, values } }) => {
    const query = `SELECT COUNT(*) AS n FROM (${text} LIMIT ${SHORT_PATH_MAX + 1})`;
    return database.get(query, ...values)?.number('n') ?? 0;
  });
}

/** The instances of the next entries of the path that fulfill the conditions on columns. */
function instancesOn(
  { columns, filter, isDirect, path }: Walk,
  after: InstancePosition | null,
  step: number,
  selected: string,
): Sql {
  const entries = inOrder(path.entries(after), filter, step);
  const from = isDirect
    ? // Its rows are at hand; without the state, which may be long.
      { ...entries, text: entries.text.replace(' AS entryId ', ` AS entryId, ${SUMMARY_COLUMNS} `) }
    : entries;
  return joined([
    constant(`SELECT ${selected} FROM (`),
    from,
    constant(isDirect ? ')' : ') CROSS JOIN instances ON instances.id = entryId'),
    whereOf(columns),
  ]);
}

function countOn(
  database: Database,
  walk: Walk,
  after: InstancePosition | null,
  step: number,
): number {
  if (walk.where.length > 0) {
    const query = instancesOn(walk, after, step, 'tags, fields');
    let count = 0;
    for (const row of database.each(query.text, ...query.values)) {
      if (fulfillsAll(row, walk.where)) count += 1;
    }
    return count;
  }
  const entries = inOrder(walk.path.entries(after), walk.filter, step);
  const query =
    walk.columns.length === 0
      ? { ...entries, text: `SELECT COUNT(*) AS n FROM (${entries.text})` }
      : instancesOn(walk, after, step, 'COUNT(*) AS n');
  return database.get(query.text, ...query.values)?.number('n') ?? 0;
}

/** The position of the last entry of a step; null: the path has no more entries. */
function positionAfter(
  database: Database,
  { filter, path }: Walk,
  after: InstancePosition | null,
  step: number,
): InstancePosition | null {
  const { text, values } = inOrder(path.entries(after), filter, 1);
  const row = database.get(`${text} OFFSET ?`, ...values, step - 1);
  return row === null ? null : { time: row.number('entryTime'), id: row.text('entryId') };
}

function inOrder(entries: Sql, filter: InstanceFilter, limit: number): Sql {
  const { direction } = orderOf(filter);
  return {
    text: `${entries.text} ORDER BY entryTime ${direction}, entryId ${direction} LIMIT ?`,
    values: [...entries.values, limit],
  };
}

function fulfillsAll(row: Row, where: readonly IndexCondition[]): boolean {
  if (where.length === 0) return true;
  const fields = {
    tags: tagsIn(row.textOrNull('tags')),
    index: indexIn(row.textOrNull('fields')),
  };
  return where.every((condition) => fulfills(fields, condition));
}
