/** Lists of instances, and counting them: see search-plan.ts. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type { IndexCondition } from '../records/index-conditions.js';
import type { InstanceFilter, InstancePosition } from '../records/instance-lists.js';
import type { InstanceSummary } from '../records/instances.js';
import { fulfillsAll } from '../sql/row-conditions.js';
import {
  COUNTED_AT_ONCE_MAX,
  SECTION_MAX,
  shortestPath,
  SHORT_PATH_MAX,
  walkSteps,
  type PathSection,
} from '../search-plan.js';
import type { Database } from './database.js';
import { SUMMARY_NAMES } from './instance-rows.js';
import { summaryOf } from '../sql/instances.js';
import {
  entryOrder,
  type ListPath,
  pathsOf,
  servedConditions,
  unservedConditions,
  whereOf,
} from './list-paths.js';
import { Parameters } from './parameters.js';
import type { PostgresContext } from './postgres-context.js';
import type { Row } from './row.js';

export async function listInstances(
  { database }: PostgresContext,
  [{ after: position, filter, limit }]: OperationArguments<'listInstances'>,
): Promise<OperationResult<'listInstances'>> {
  const walk = await planWalk(database, filter);
  const items: InstanceSummary[] = [];
  let after: InstancePosition | null = position;
  const isSearch = walk.where.length > 0 || walk.columns(new Parameters()).length > 0;
  for (const step of walkSteps(limit)) {
    // The end of the section is fixed before it is read: others may insert and remove instances in between.
    const until = isSearch ? await sectionEnd(database, walk, after, step) : null;
    const entriesMax = isSearch ? SECTION_MAX : limit;
    const limits = { entriesMax, limit: limit - items.length };
    const page = { after, until, selected: SUMMARY_NAMES, ...limits };
    for (const row of await readEntries(database, walk, page)) {
      if (!fulfillsAll(row, walk.where)) continue;
      items.push(summaryOf(row));
      if (items.length === limit) return { items, searchedTo: null };
    }
    after = until;
    if (after === null) return { items, searchedTo: null };
  }
  return { items, searchedTo: after };
}

export async function countInstances(
  { database }: PostgresContext,
  [{ after: position, filter, max }]: OperationArguments<'countInstances'>,
): Promise<OperationResult<'countInstances'>> {
  const walk = await planWalk(database, filter);
  if (max <= COUNTED_AT_ONCE_MAX && isCountedByIndex(walk)) {
    return { count: await countByIndex(database, walk, position, max), searchedTo: null };
  }
  let count = 0;
  let after: InstancePosition | null = position;
  for (const step of walkSteps(max)) {
    const until = await sectionEnd(database, walk, after, step);
    count += await countEntries(database, walk, { after, until });
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
  /** Conditions on columns that not all instances on the path fulfill. */
  readonly columns: (parameters: Parameters) => readonly string[];
  readonly where: readonly IndexCondition[];
}

async function planWalk(database: Database, filter: InstanceFilter): Promise<Walk> {
  const paths = pathsOf(filter);
  const path = shortestPath(paths, await lengthsOf(database, paths));
  const isDirect = path === paths.at(-1);
  return {
    filter,
    path,
    columns: (parameters) => [
      ...(isDirect ? [] : servedConditions(filter, parameters)),
      ...unservedConditions(filter, parameters),
    ],
    where: (filter.where ?? []).filter((condition) => condition !== path.covers),
  };
}

/** Up to one more than a short path has. There is nothing to compare if there is only one. */
async function lengthsOf(
  database: Database,
  paths: readonly ListPath[],
): Promise<readonly number[]> {
  if (paths.length === 1) return [0];
  const parameters = new Parameters();
  const counts = paths.map(({ counted }, at) => {
    const entries = `${counted(parameters)} LIMIT ${SHORT_PATH_MAX + 1}`;
    return `(SELECT count(*) FROM (${entries}) AS path_${at}) AS length_${at}`;
  });
  const [row] = await database.queryByValues(`SELECT ${counts.join(', ')}`, parameters.values);
  return paths.map((_, at) => row?.number(`length_${at}`) ?? 0);
}

interface EntryPage extends PathSection {
  readonly entriesMax: number;
  readonly selected: string;
  /** How many instances are wanted. */
  readonly limit: number;
}

/** The instances of the next entries of the path that fulfill the conditions on columns, in the order of the list. */
function readEntries(
  database: Database,
  walk: Walk,
  { after, entriesMax, limit, selected, until }: EntryPage,
): Promise<readonly Row[]> {
  const parameters = new Parameters();
  const from = joinedEntries(walk, parameters, { after, until }, entriesMax);
  // The conditions on tags and index fields still have to be checked.
  const bound = walk.where.length > 0 ? '' : `LIMIT ${parameters.add(limit)}::bigint`;
  const text = `SELECT ${selected} FROM ${from} ${entryOrder(walk.filter)} ${bound}`;
  return database.queryByValues(text, parameters.values);
}

/** Whether the instances themselves need not be read to count them. */
function isCountedByIndex({ columns, path, where }: Walk): boolean {
  return path.isOrdered && where.length === 0 && columns(new Parameters()).length === 0;
}

async function countByIndex(
  database: Database,
  { path }: Walk,
  after: InstancePosition | null,
  max: number,
): Promise<number> {
  const parameters = new Parameters();
  const limit = `${parameters.add(max)}::bigint`;
  const entries = path.entries(parameters, { after, until: null }, limit);
  const text = `SELECT count(*) AS count FROM (${entries}) AS entry`;
  const [row] = await database.queryByValues(text, parameters.values);
  return row?.number('count') ?? 0;
}

async function countEntries(database: Database, walk: Walk, section: PathSection): Promise<number> {
  if (walk.where.length > 0) {
    const limits = { entriesMax: SECTION_MAX, limit: SECTION_MAX };
    const page = { ...section, selected: 'tags, fields', ...limits };
    const rows = await readEntries(database, walk, page);
    return rows.filter((row) => fulfillsAll(row, walk.where)).length;
  }
  const parameters = new Parameters();
  const text = `SELECT count(*) AS count FROM ${joinedEntries(walk, parameters, section, SECTION_MAX)}`;
  const [row] = await database.queryByValues(text, parameters.values);
  return row?.number('count') ?? 0;
}

function joinedEntries(
  { columns, path }: Walk,
  parameters: Parameters,
  section: PathSection,
  entriesMax: number,
): string {
  const entries = path.entries(parameters, section, `${parameters.add(entriesMax)}::bigint`);
  return `(${entries}) AS entry JOIN @instances ON id = entry_id ${whereOf(columns(parameters))}`;
}

/** The position of the last of the next entries; null: there are fewer. */
async function sectionEnd(
  database: Database,
  { filter, path }: Walk,
  after: InstancePosition | null,
  step: number,
): Promise<InstancePosition | null> {
  const parameters = new Parameters();
  const limit = `${parameters.add(step)}::bigint`;
  const entries = path.entries(parameters, { after, until: null }, limit);
  const text = `SELECT entry_time, entry_id FROM (${entries}) AS entry ${entryOrder(filter)} OFFSET ${parameters.add(step - 1)}::bigint`;
  const [row] = await database.queryByValues(text, parameters.values);
  return row === undefined ? null : { time: row.number('entry_time'), id: row.text('entry_id') };
}
