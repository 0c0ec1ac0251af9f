/** The paths to the instances of a list, as statements: see search-plan.ts. */
import { termConditionOf } from '../index-terms.js';
import type { IndexCondition } from '../records/index-conditions.js';
import type { InstanceFilter, InstancePosition } from '../records/instance-lists.js';
import { pathsFor, type PathSection, type SearchPath } from '../search-plan.js';
import {
  comparison,
  endConditions,
  joined,
  otherConditions,
  servedConditions,
  sql,
  startConditions,
  timeConditions,
  valueConditions,
  whereOf,
  type Sql,
} from './conditions.js';

/** The entries that a statement returns. */
export interface EntryRange {
  readonly limit: number;
  /** Entries that it skips first. */
  readonly offset?: number;
}

export interface ListPath extends SearchPath {
  /** The next entries of a section in the order of the list, as `entryTime` and `entryId`. */
  readonly entries: (section: PathSection, range: EntryRange) => Sql;
  /** A statement with a row for each of its entries, in any order. */
  readonly counted: Sql;
}

export interface ListOrder {
  readonly time: 'startTime' | 'errorAt' | 'lastChangeAt';
  readonly direction: 'ASC' | 'DESC';
}

/** The choices that depend on the database. */
export interface ListDialect {
  /** The conditions along the order of the instances themselves that an index serves. */
  readonly served: (filter: InstanceFilter) => readonly Sql[];
  /** Conditions on columns that not all instances along that order fulfill. */
  readonly unserved: (filter: InstanceFilter) => readonly Sql[];
  /** The index of that order; null: the database chooses. */
  readonly index: (filter: InstanceFilter) => string | null;
  /** The step of the column `changeSpan`, which is indexed instead of `lastChangeAt`; null: there is no such column. */
  readonly changeSpanMs: number | null;
  /** Keeps the planner from walking the order of the list instead of the few instances that `entries` finds. */
  readonly apart: (entries: Sql) => Sql;
  /** The next entries of several statements on terms, each once. */
  readonly union: (parts: readonly Sql[], filter: InstanceFilter, range: EntryRange) => Sql;
  /** The condition that the id is among those of a statement. */
  readonly isAmong: (ids: Sql) => Sql;
  /** The instances of ordered entries that fulfill the conditions on columns. */
  readonly instancesOf: (entries: Sql, walk: InstanceWalk, selected: string) => Sql;
  /** Gives instances the order of their entries, if the join doesn't keep it. A limit of null leaves all. */
  readonly ordered: (instances: Sql, filter: InstanceFilter, limit: number | null) => Sql;
  /** How many entries of an index one statement counts. 0: only those of one section at a time. */
  readonly countedAtOnceMax: number;
}

/** The instances that are to be found among the entries of a path. */
export interface InstanceWalk {
  readonly filter: InstanceFilter;
  readonly path: ListPath;
  /** The path goes along the instances, not along terms. */
  readonly isDirect: boolean;
  /** Conditions that not all instances on the path fulfill. */
  readonly columns: readonly Sql[];
  readonly where: readonly IndexCondition[];
}

export function orderOf({ failedFrom, unchangedSince }: InstanceFilter): ListOrder {
  if (failedFrom !== undefined) return { time: 'errorAt', direction: 'DESC' };
  if (unchangedSince !== undefined) return { time: 'lastChangeAt', direction: 'ASC' };
  return { time: 'startTime', direction: 'DESC' };
}

export function entryOrder(filter: InstanceFilter): string {
  const { direction } = orderOf(filter);
  return `ORDER BY entryTime ${direction}, entryId ${direction}`;
}

export function inRange(order: string, { limit, offset }: EntryRange): Sql {
  return offset === undefined
    ? sql(`${order} LIMIT ?::bigint`, limit)
    : sql(`${order} LIMIT ?::bigint OFFSET ?::bigint`, limit, offset);
}

/** The conditions on columns of an instance that terms have found. */
export function allConditions(dialect: ListDialect, filter: InstanceFilter): readonly Sql[] {
  return [
    ...servedConditions(filter),
    ...spanCondition(dialect, filter),
    ...otherConditions(filter),
  ];
}

export function pathsOf(dialect: ListDialect, filter: InstanceFilter): readonly ListPath[] {
  return pathsFor<ListPath>(filter, {
    term: (condition) => termPath(dialect, filter, condition),
    version: () => versionPath(dialect, filter),
    ended: () => endedPath(dialect, filter),
    instance: () =>
      orderedPath(dialect, filter, dialect.index(filter), [
        ...dialect.served(filter),
        ...spanCondition(dialect, filter),
      ]),
  });
}

function versionPath(dialect: ListDialect, filter: InstanceFilter): ListPath {
  const { definitionId, version } = filter;
  return orderedPath(dialect, filter, 'instances_version', [
    ...comparison('definitionId = ?', definitionId),
    ...comparison('version = ?::bigint', version),
    ...startConditions(filter),
  ]);
}

/** The instances of an index in its order. */
function orderedPath(
  dialect: ListDialect,
  filter: InstanceFilter,
  index: string | null,
  where: readonly Sql[],
): ListPath {
  const from = `FROM @instances${index === null ? '' : ` INDEXED BY ${index}`}`;
  return {
    covers: null,
    isOrdered: true,
    counted: joined([sql(`SELECT 1 ${from}`), whereOf(where)]),
    entries: (section, range) =>
      joined([
        instanceEntries(filter, from, [...where, ...positionOf(dialect, filter, section)]),
        instanceEnding(dialect, filter, range),
      ]),
  };
}

function endedPath(dialect: ListDialect, filter: InstanceFilter): ListPath {
  const from = 'FROM @instances INDEXED BY instances_ended';
  const where = endConditions(filter);
  return {
    covers: null,
    isOrdered: false,
    counted: joined([sql(`SELECT 1 ${from}`), whereOf(where)]),
    entries: (section, range) =>
      joined([
        dialect.apart(
          instanceEntries(filter, from, [
            ...where,
            ...timeConditions(filter),
            ...spanCondition(dialect, filter),
            ...positionOf(dialect, filter, section),
          ]),
        ),
        inRange(entryOrder(filter), range),
      ]),
  };
}

function termPath(
  dialect: ListDialect,
  filter: InstanceFilter,
  condition: IndexCondition,
): ListPath {
  const parts = valueConditions(termConditionOf(condition));
  const started = startConditions(filter);
  const isEqual = condition.operator === '=';
  const isInOrder = orderOf(filter).time === 'startTime';
  const partsOf = (selected: string, more: readonly Sql[]): readonly Sql[] =>
    parts.map((part) =>
      joined([sql(`SELECT ${selected} FROM @terms`), whereOf([...part, ...more])]),
    );
  // An instance may have several values in a range.
  const entry = `${isEqual ? '' : 'DISTINCT '}startTime AS entryTime, instanceId AS entryId`;
  return {
    covers: condition.operator === '!=' ? null : condition,
    isOrdered: isEqual && isInOrder,
    // In a range, the index sorts by value first, so a bound on the start time wouldn't shorten the scan.
    counted: joined(partsOf('1', isEqual ? started : []), ' UNION ALL '),
    entries: (section, range) => {
      if (isInOrder) {
        const position = positionOf(dialect, filter, section, 'instanceId');
        return dialect.union(partsOf(entry, [...started, ...position]), filter, range);
      }
      const found = dialect.isAmong(joined(partsOf('instanceId', started), ' UNION '));
      return joined([
        instanceEntries(filter, 'FROM @instances', [
          found,
          ...timeConditions(filter),
          ...spanCondition(dialect, filter),
          ...positionOf(dialect, filter, section),
        ]),
        instanceEnding(dialect, filter, range),
      ]);
    },
  };
}

function instanceEntries(filter: InstanceFilter, from: string, where: readonly Sql[]): Sql {
  const selected = `SELECT ${orderOf(filter).time} AS entryTime, id AS entryId ${from}`;
  return joined([sql(selected), whereOf(where)]);
}

function instanceEnding(dialect: ListDialect, filter: InstanceFilter, range: EntryRange): Sql {
  const { direction } = orderOf(filter);
  const order = entryOrder(filter);
  return inRange(
    hasSpan(dialect, filter)
      ? order.replace('ORDER BY', `ORDER BY changeSpan ${direction},`)
      : order,
    range,
  );
}

function hasSpan({ changeSpanMs }: ListDialect, filter: InstanceFilter): boolean {
  return changeSpanMs !== null && orderOf(filter).time === 'lastChangeAt';
}

function spanCondition(dialect: ListDialect, filter: InstanceFilter): readonly Sql[] {
  const { unchangedSince } = filter;
  return unchangedSince === undefined ? [] : spanComparison(dialect, '<=', unchangedSince);
}

/** Follows from the same comparison of `lastChangeAt`, and lets an index find the rows. */
function spanComparison(
  { changeSpanMs }: ListDialect,
  operator: '<=' | '>=',
  time: number,
): readonly Sql[] {
  if (changeSpanMs === null) return [];
  return [sql(`changeSpan ${operator} ?`, Math.floor(time / changeSpanMs))];
}

function positionOf(
  dialect: ListDialect,
  filter: InstanceFilter,
  { after, until }: PathSection,
  idColumn: 'id' | 'instanceId' = 'id',
): readonly Sql[] {
  const { direction, time } = orderOf(filter);
  const [beyond, upTo] = direction === 'DESC' ? ['<', '>='] : ['>', '<='];
  const compared = (operator: string, position: InstancePosition | null): readonly Sql[] =>
    position === null
      ? []
      : [
          sql(
            `(${time}, ${idColumn}) ${operator} (?::bigint, ?::text)`,
            position.time,
            position.id,
          ),
        ];
  return [
    ...compared(beyond, after),
    ...(after !== null && hasSpan(dialect, filter)
      ? spanComparison(dialect, '>=', after.time)
      : []),
    ...compared(upTo, until),
  ];
}
