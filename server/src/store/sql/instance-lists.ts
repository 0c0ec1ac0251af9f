/** Lists of instances, and counting them: see search-plan.ts. Each database has paths of its own, see `ListDialect`. */
import type { InstanceFilter, InstancePosition } from '../records/instance-lists.js';
import type { InstanceSummary } from '../records/instances.js';
import {
  SECTION_MAX,
  SHORT_PATH_MAX,
  shortestPath,
  walkSteps,
  type PathSection,
} from '../search-plan.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { fulfillsAll, joined, type Sql } from './conditions.js';
import { SUMMARY_NAMES, summaryOf } from './instances.js';
import { allConditions, pathsOf, type InstanceWalk, type ListDialect } from './list-paths.js';
import { search, searchOne, select, type SqlOperations, type SqlSteps } from './statements.js';
import type { StoredRow } from './stored-row.js';

/** The number of ids in one statement. */
const SUMMARIES_AT_ONCE = 50;
const SELECT_SUMMARIES = `SELECT ${SUMMARY_NAMES} FROM @instances
  WHERE id IN (${Array.from({ length: SUMMARIES_AT_ONCE }, () => '?').join(', ')})`;

export const INSTANCE_LIST_OPERATIONS = {
  *getSummaries([ids]) {
    const summaries: InstanceSummary[] = [];
    for (let from = 0; from < ids.length; from += SUMMARIES_AT_ONCE) {
      const some = ids.slice(from, from + SUMMARIES_AT_ONCE);
      // One text for any number of ids, so that databases keep one statement.
      const unused = Array.from({ length: SUMMARIES_AT_ONCE - some.length }, () => null);
      const rows = yield* select(SELECT_SUMMARIES, ...some, ...unused);
      summaries.push(...rows.map(summaryOf));
    }
    return summaries;
  },
} satisfies SqlOperations;

export function* listInstances(
  dialect: ListDialect,
  [{ after: position, filter, limit }]: OperationArguments<'listInstances'>,
): SqlSteps<OperationResult<'listInstances'>> {
  const walk = yield* planWalk(dialect, filter);
  const isSearch = walk.where.length > 0 || walk.columns.length > 0;
  const items: InstanceSummary[] = [];
  let after = position;
  for (const step of walkSteps(limit)) {
    // The end of the section is fixed before it is read: others may insert and remove instances in between.
    const until = isSearch ? yield* sectionEnd(walk, after, step) : null;
    const entriesMax = isSearch ? SECTION_MAX : limit;
    const wanted = limit - items.length;
    const page = { after, until, selected: SUMMARY_NAMES, entriesMax, limit: wanted };
    for (const row of yield* readInstances(dialect, walk, page)) {
      if (!fulfillsAll(row, walk.where)) continue;
      items.push(summaryOf(row));
      if (items.length === limit) return { items, searchedTo: null };
    }
    after = until;
    if (after === null) return { items, searchedTo: null };
  }
  return { items, searchedTo: after };
}

export function* countInstances(
  dialect: ListDialect,
  [{ after: position, filter, max }]: OperationArguments<'countInstances'>,
): SqlSteps<OperationResult<'countInstances'>> {
  const walk = yield* planWalk(dialect, filter);
  if (max <= dialect.countedAtOnceMax && isCountedByIndex(walk)) {
    const section = { after: position, until: null };
    return { count: yield* countEntries(walk, section, max), searchedTo: null };
  }
  let count = 0;
  let after = position;
  for (const step of walkSteps(max)) {
    const until = yield* sectionEnd(walk, after, step);
    count += yield* countOn(dialect, walk, { after, until });
    if (count >= max) return { count: max, searchedTo: null };
    after = until;
    if (after === null) break;
  }
  return { count, searchedTo: after };
}

function* planWalk(dialect: ListDialect, filter: InstanceFilter): SqlSteps<InstanceWalk> {
  const paths = pathsOf(dialect, filter);
  const lengths = yield* lengthsOf(paths.map(({ counted }) => counted));
  const path = shortestPath(paths, lengths);
  const isDirect = path === paths.at(-1);
  return {
    filter,
    path,
    isDirect,
    columns: isDirect ? dialect.unserved(filter) : allConditions(dialect, filter),
    where: (filter.where ?? []).filter((condition) => condition !== path.covers),
  };
}

/** Up to one more than a short path has. There is nothing to compare if there is only one. */
function* lengthsOf(paths: readonly Sql[]): SqlSteps<readonly number[]> {
  if (paths.length === 1) return [0];
  const counts = paths.map(({ text, values }, at) => ({
    text: `(SELECT COUNT(*) FROM (${text} LIMIT ${SHORT_PATH_MAX + 1}) AS path${at}) AS length${at}`,
    values,
  }));
  const { text, values } = joined(counts, ', ');
  const row = yield* searchOne({ text: `SELECT ${text}`, values });
  return paths.map((_, at) => row?.number(`length${at}`) ?? 0);
}

interface InstancePage extends PathSection {
  readonly entriesMax: number;
  readonly selected: string;
  /** How many instances are wanted. */
  readonly limit: number;
}

/** The instances of the next entries of the path that fulfill the conditions on columns, in the order of the list. */
function* readInstances(
  dialect: ListDialect,
  walk: InstanceWalk,
  { entriesMax, limit, selected, ...section }: InstancePage,
): SqlSteps<Iterable<StoredRow>> {
  const entries = walk.path.entries(section, { limit: entriesMax });
  const instances = dialect.instancesOf(entries, walk, selected);
  // The conditions on tags and index fields still have to be checked.
  const bound = walk.where.length > 0 ? null : limit;
  return yield* search(dialect.ordered(instances, walk.filter, bound));
}

/** True if the count can be answered from the index alone. */
function isCountedByIndex({ columns, path, where }: InstanceWalk): boolean {
  return path.isOrdered && where.length === 0 && columns.length === 0;
}

function* countOn(
  dialect: ListDialect,
  walk: InstanceWalk,
  section: PathSection,
): SqlSteps<number> {
  if (walk.where.length > 0) {
    const limits = { entriesMax: SECTION_MAX, limit: SECTION_MAX };
    const page = { ...section, selected: 'tags, fields', ...limits };
    let count = 0;
    for (const row of yield* readInstances(dialect, walk, page)) {
      if (fulfillsAll(row, walk.where)) count += 1;
    }
    return count;
  }
  if (walk.columns.length === 0) return yield* countEntries(walk, section, SECTION_MAX);
  const entries = walk.path.entries(section, { limit: SECTION_MAX });
  const row = yield* searchOne(dialect.instancesOf(entries, walk, 'COUNT(*) AS n'));
  return row?.number('n') ?? 0;
}

function* countEntries(
  { path }: InstanceWalk,
  section: PathSection,
  max: number,
): SqlSteps<number> {
  const { text, values } = path.entries(section, { limit: max });
  const row = yield* searchOne({ text: `SELECT COUNT(*) AS n FROM (${text}) AS entry`, values });
  return row?.number('n') ?? 0;
}

/** The position of the last of the next entries; null: there are fewer. */
function* sectionEnd(
  { path }: InstanceWalk,
  after: InstancePosition | null,
  step: number,
): SqlSteps<InstancePosition | null> {
  const last = { limit: 1, offset: step - 1 };
  const row = yield* searchOne(path.entries({ after, until: null }, last));
  return row === null ? null : { time: row.number('entryTime'), id: row.text('entryId') };
}
