/** Lists of instances, and counting them: see search-plan.ts. */
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type { IndexCondition } from '../../records/index-conditions.js';
import type { InstanceFilter, InstancePosition } from '../../records/instance-lists.js';
import type { InstanceSummary } from '../../records/instances.js';
import { fulfillsAll } from '../../sql/row-conditions.js';
import {
  SECTION_MAX,
  SHORT_PATH_MAX,
  shortestPath,
  walkSteps,
  type PathSection,
} from '../../search-plan.js';
import { summaryOf } from '../../sql/instances.js';
import type { Database } from '../database.js';
import { SUMMARY_NAMES } from './instance-rows.js';
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
  [{ after: position, filter, limit }]: OperationArguments<'listInstances'>,
): OperationResult<'listInstances'> {
  const walk = planWalk(database, filter);
  const isSearch = walk.where.length > 0 || walk.columns.length > 0;
  const items: InstanceSummary[] = [];
  let after = position;
  for (const step of walkSteps(limit)) {
    // The end of the section is fixed before it is read: other processes may write in between.
    const until = isSearch ? sectionEnd(database, walk, after, step) : null;
    const entriesMax = isSearch ? SECTION_MAX : limit;
    const query = instancesOn(walk, { after, until }, entriesMax, SUMMARY_NAMES);
    for (const row of database.each(query.text, ...query.values)) {
      if (!fulfillsAll(row, walk.where)) continue;
      items.push(summaryOf(row));
      if (items.length === limit) return { items, searchedTo: null };
    }
    after = until;
    if (after === null) return { items, searchedTo: null };
  }
  return { items, searchedTo: after };
}

export function countInstances(
  database: Database,
  [{ after: position, filter, max }]: OperationArguments<'countInstances'>,
): OperationResult<'countInstances'> {
  const walk = planWalk(database, filter);
  let count = 0;
  let after = position;
  for (const step of walkSteps(max)) {
    const until = sectionEnd(database, walk, after, step);
    count += countOn(database, walk, { after, until });
    if (count >= max) return { count: max, searchedTo: null };
    after = until;
    if (after === null) break;
  }
  return { count, searchedTo: after };
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

/** The instances of a section of the path that fulfill the conditions on columns. */
function instancesOn(
  { columns, filter, isDirect, path }: Walk,
  section: PathSection,
  entriesMax: number,
  selected: string,
): Sql {
  const entries = inOrder(path.entries(section), filter, entriesMax);
  const from = isDirect
    ? // Its rows are at hand; without the state, which may be long.
      { ...entries, text: entries.text.replace(' AS entryId ', ` AS entryId, ${SUMMARY_NAMES} `) }
    : entries;
  return joined([
    constant(`SELECT ${selected} FROM (`),
    from,
    constant(isDirect ? ')' : ') CROSS JOIN instances ON instances.id = entryId'),
    whereOf(columns),
  ]);
}

function countOn(database: Database, walk: Walk, section: PathSection): number {
  if (walk.where.length > 0) {
    const query = instancesOn(walk, section, SECTION_MAX, 'tags, fields');
    let count = 0;
    for (const row of database.each(query.text, ...query.values)) {
      if (fulfillsAll(row, walk.where)) count += 1;
    }
    return count;
  }
  const entries = inOrder(walk.path.entries(section), walk.filter, SECTION_MAX);
  const query =
    walk.columns.length === 0
      ? { ...entries, text: `SELECT COUNT(*) AS n FROM (${entries.text})` }
      : instancesOn(walk, section, SECTION_MAX, 'COUNT(*) AS n');
  return database.get(query.text, ...query.values)?.number('n') ?? 0;
}

/** The position of the last of the next entries; null: there are fewer. */
function sectionEnd(
  database: Database,
  { filter, path }: Walk,
  after: InstancePosition | null,
  step: number,
): InstancePosition | null {
  const { text, values } = inOrder(path.entries({ after, until: null }), filter, 1);
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
