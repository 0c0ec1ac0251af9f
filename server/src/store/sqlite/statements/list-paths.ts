/** The paths to the instances of a list, as queries: see search-plan.ts. */
import type { SQLInputValue } from 'node:sqlite';
import { ANY_VALUE, termConditionOf, type TermCondition, prefixRanges } from '../../index-terms.js';
import type { IndexCondition } from '../../records/index-conditions.js';
import type { InstanceFilter, InstancePosition } from '../../records/instance-lists.js';
import { pathsFor, type PathSection, type SearchPath } from '../../search-plan.js';
import { encodeText } from '../../text-codec.js';
import { AFTER_ENCODED, partOfJson } from '../../text-search.js';

export interface Sql {
  readonly text: string;
  readonly values: readonly SQLInputValue[];
}

export interface ListPath extends SearchPath {
  /** Its entries in a section, as `entryTime` and `entryId`; without their order. */
  readonly entries: (section: PathSection) => Sql;
  /** A query with a row for each of its entries, in any order. */
  readonly counted: Sql;
}

export interface ListOrder {
  readonly index: string;
  readonly time: 'startTime' | 'errorAt' | 'lastChangeAt';
  readonly direction: 'ASC' | 'DESC';
}

/** The second condition selects the partial index. */
const FAILURE_IS = 'failureKey = ? AND failureKey IS NOT NULL';

export function orderOf(filter: InstanceFilter): ListOrder {
  if (filter.failedFrom !== undefined) {
    return { index: 'instances_failed', time: 'errorAt', direction: 'DESC' };
  }
  if (filter.unchangedSince !== undefined) {
    return { index: 'instances_unchanged', time: 'lastChangeAt', direction: 'ASC' };
  }
  return { index: indexFor(filter), time: 'startTime', direction: 'DESC' };
}

export function pathsOf(filter: InstanceFilter): readonly ListPath[] {
  return pathsFor<ListPath>(filter, {
    term: termPath,
    version: versionPath,
    ended: endedPath,
    instance: instancePath,
  });
}

/** All instances of an index of their own columns, in its order. */
function instancePath(filter: InstanceFilter): ListPath {
  const { index, time } = orderOf(filter);
  return orderedPath(filter, { index, time, where: indexedConditions(filter, index) });
}

function versionPath(filter: InstanceFilter): ListPath {
  const { definitionId, version } = filter;
  const where = [
    ...equal('definitionId', definitionId === undefined ? undefined : encodeText(definitionId)),
    ...equal('version', version),
    ...startConditions(filter),
  ];
  return orderedPath(filter, { index: 'instances_version', time: 'startTime', where });
}

interface Order {
  readonly index: string;
  /** The column that follows those with a fixed value. */
  readonly time: string;
  readonly where: readonly Sql[];
}

function orderedPath(filter: InstanceFilter, { index, time, where }: Order): ListPath {
  const from = `FROM instances INDEXED BY ${index}`;
  return {
    covers: null,
    isOrdered: true,
    counted: joined([constant(`SELECT 1 ${from}`), whereOf(where)]),
    entries: (section) =>
      joined([
        constant(`SELECT ${time} AS entryTime, id AS entryId ${from}`),
        whereOf([...where, ...positionOf(filter, section, 'id')]),
      ]),
  };
}

function endedPath(filter: InstanceFilter): ListPath {
  const where = endConditions(filter);
  const from = 'FROM instances INDEXED BY instances_ended';
  const times = timeConditions(filter);
  return {
    covers: null,
    isOrdered: false,
    counted: joined([constant(`SELECT 1 ${from}`), whereOf(where)]),
    entries: (section) =>
      joined([
        constant(`SELECT ${orderOf(filter).time} AS entryTime, id AS entryId ${from}`),
        whereOf([...where, ...times, ...positionOf(filter, section, 'id')]),
      ]),
  };
}

function termPath(condition: IndexCondition, filter: InstanceFilter): ListPath {
  const parts = valueConditions(termConditionOf(condition));
  const started = startConditions(filter);
  const isEqual = condition.operator === '=';
  const isInOrder = orderOf(filter).time === 'startTime';
  return {
    covers: condition.operator === '!=' ? null : condition,
    isOrdered: isEqual && isInOrder,
    // In a range, the start follows the value: it would not bound what is read.
    counted: united(
      parts.map((part) =>
        joined([constant('SELECT 1 FROM terms'), whereOf(isEqual ? [...part, ...started] : part)]),
      ),
      'UNION ALL',
    ),
    entries: (section) =>
      isInOrder
        ? termEntries(parts, isEqual, [...started, ...positionOf(filter, section, 'instanceId')])
        : sortedTermEntries(parts, filter, section),
  };
}

function termEntries(
  parts: readonly (readonly Sql[])[],
  isEqual: boolean,
  where: readonly Sql[],
): Sql {
  // An instance may have several values in a range.
  const select = `SELECT ${isEqual ? '' : 'DISTINCT '}startTime AS entryTime, instanceId AS entryId FROM terms`;
  const queries = parts.map((part) => joined([constant(select), whereOf([...part, ...where])]));
  return united(queries, 'UNION');
}

/** In another order than the terms have. */
function sortedTermEntries(
  parts: readonly (readonly Sql[])[],
  filter: InstanceFilter,
  section: PathSection,
): Sql {
  const ids = united(
    parts.map((part) =>
      joined([
        constant('SELECT instanceId FROM terms'),
        whereOf([...part, ...startConditions(filter)]),
      ]),
    ),
    'UNION',
  );
  const within: Sql = { text: `id IN (${ids.text})`, values: ids.values };
  return joined([
    constant(`SELECT ${orderOf(filter).time} AS entryTime, id AS entryId FROM instances`),
    whereOf([within, ...timeConditions(filter), ...positionOf(filter, section, 'id')]),
  ]);
}

/** One list of conditions for each value or range. */
function valueConditions(condition: TermCondition): readonly (readonly Sql[])[] {
  const { name } = condition;
  if (condition.kind === 'equal') {
    return condition.values.map((value) => [
      { text: 'name = ? AND value = ?', values: [name, value] },
    ]);
  }
  const ranges = condition.kind === 'range' ? condition.ranges : [ANY_VALUE];
  if (ranges.length === 0) return [[{ text: 'name = ? AND 0', values: [name] }]];
  return ranges.map(({ from, to }) => [
    { text: 'name = ? AND value >= ? AND value < ?', values: [name, from, to] },
  ]);
}

/** The conditions on the columns of instances that not all instances on the path of their own index fulfill. */
export function unservedConditions(filter: InstanceFilter): readonly Sql[] {
  const served = new Set(indexedConditions(filter, orderOf(filter).index).map(keyOf));
  return columnConditions(filter).filter((condition) => !served.has(keyOf(condition)));
}

function keyOf({ text, values }: Sql): string {
  return JSON.stringify([text, ...values.map(String)]);
}

/** The conditions on the columns of instances, except those on tags and index fields. */
export function columnConditions(filter: InstanceFilter): readonly Sql[] {
  const { definitionId, failure, outcome, parentId, reference, status, version } = filter;
  return [
    ...equal('status', status),
    ...comparison(FAILURE_IS, failure),
    ...equal('definitionId', definitionId === undefined ? undefined : encodeText(definitionId)),
    ...definitionConditions(filter),
    ...equal('version', version),
    ...equal('reference', reference === undefined ? undefined : encodeText(reference)),
    ...equal('outcome', outcome),
    ...equal('parentId', typeof parentId === 'string' ? encodeText(parentId) : undefined),
    // These conditions match those of the partial indexes, which SQLite cannot infer from a parameter.
    ...(outcome === 'Succeeded' ? [constant(`status = 'Complete'`)] : []),
    ...(outcome !== undefined && outcome !== 'Succeeded'
      ? [constant(`outcome <> 'Succeeded'`)]
      : []),
    ...(parentId === null ? [constant('parentId IS NULL')] : []),
    ...timeConditions(filter),
    ...endConditions(filter),
    ...partConditions(filter),
  ];
}

export function definitionConditions({
  definitionPrefixes,
}: Pick<InstanceFilter, 'definitionPrefixes'>): readonly Sql[] {
  if (definitionPrefixes === undefined) return [];
  const ranges = prefixRanges(definitionPrefixes);
  const texts = ranges.map(() => '(definitionId >= ? AND definitionId < ?)');
  return [
    {
      text: texts.length === 0 ? 'FALSE' : `(${texts.join(' OR ')})`,
      values: ranges.flatMap(({ from, to }) => [from, to]),
    },
  ];
}

function partConditions({ mayContain }: InstanceFilter): readonly Sql[] {
  if (mayContain === undefined) return [];
  const inColumn = ['id', 'reference'].map((column) => `instr(${column}, ?) OR ${column} < ?`);
  const inJson = ['tags', 'fields'].map((column) => `instr(${column}, ?)`);
  const json = partOfJson(mayContain);
  return [
    {
      text: `(${[...inColumn, ...inJson].join(' OR ')})`,
      values: [mayContain, AFTER_ENCODED, mayContain, AFTER_ENCODED, json, json],
    },
  ];
}

function timeConditions(filter: InstanceFilter): readonly Sql[] {
  const { failedFrom, unchangedSince } = filter;
  return [
    ...startConditions(filter),
    // The second condition selects the partial index; SQLite does not infer it from the first.
    ...comparison('errorAt >= ? AND errorAt IS NOT NULL', failedFrom),
    ...comparison(`lastChangeAt < ? AND status IN ('Runnable', 'Suspended')`, unchangedSince),
  ];
}

function startConditions({ startedFrom, startedTo }: InstanceFilter): readonly Sql[] {
  return [...comparison('startTime >= ?', startedFrom), ...comparison('startTime < ?', startedTo)];
}

function endConditions({ endedFrom, endedTo }: InstanceFilter): readonly Sql[] {
  return [
    ...comparison('endTime >= ? AND endTime IS NOT NULL', endedFrom),
    ...comparison('endTime < ? AND endTime IS NOT NULL', endedTo),
  ];
}

/** The conditions that the index serves without reading a row. */
function indexedConditions(filter: InstanceFilter, index: string): readonly Sql[] {
  const { definitionId, failure, outcome, parentId, reference, status } = filter;
  const statusOf = outcome === 'Succeeded' ? 'Complete' : status;
  const definition = equal(
    'definitionId',
    definitionId === undefined ? undefined : encodeText(definitionId),
  );
  switch (index) {
    case 'instances_reference':
      return [
        ...equal('reference', reference === undefined ? undefined : encodeText(reference)),
        ...startConditions(filter),
      ];
    case 'instances_parent':
      return [
        ...equal('parentId', typeof parentId === 'string' ? encodeText(parentId) : undefined),
        ...startConditions(filter),
      ];
    case 'instances_failure':
      return [...comparison(FAILURE_IS, failure), ...startConditions(filter)];
    case 'instances_outcome':
      return [
        ...equal('outcome', outcome),
        constant(`outcome <> 'Succeeded'`),
        ...startConditions(filter),
      ];
    case 'instances_definition':
      return [...definition, ...startConditions(filter)];
    case 'instances_definition_status':
      return [...definition, ...equal('status', statusOf), ...startConditions(filter)];
    case 'instances_status':
      return [...equal('status', statusOf), ...startConditions(filter)];
    case 'instances_roots':
      return [constant('parentId IS NULL'), ...startConditions(filter)];
    default:
      // The times that determine the order.
      return timeConditions({
        ...(index === 'instances_started' && pickStart(filter)),
        ...(filter.failedFrom !== undefined && { failedFrom: filter.failedFrom }),
        ...(filter.unchangedSince !== undefined && { unchangedSince: filter.unchangedSince }),
      });
  }
}

function pickStart({ startedFrom, startedTo }: InstanceFilter): InstanceFilter {
  return {
    ...(startedFrom !== undefined && { startedFrom }),
    ...(startedTo !== undefined && { startedTo }),
  };
}

/**
 * The most selective index that provides the order of the list. It is named in the query because SQLite has no
 * statistics to choose by.
 */
function indexFor({ failure, reference, parentId, ...filter }: InstanceFilter): string {
  const { definitionId, outcome } = filter;
  const status = outcome === 'Succeeded' ? 'Complete' : filter.status;
  if (reference !== undefined) return 'instances_reference';
  if (typeof parentId === 'string') return 'instances_parent';
  if (failure !== undefined) return 'instances_failure';
  // Few instances end with any other outcome, so this index selects the fewest.
  if (outcome !== undefined && outcome !== 'Succeeded') return 'instances_outcome';
  if (definitionId !== undefined) {
    return status === undefined ? 'instances_definition' : 'instances_definition_status';
  }
  if (status !== undefined) return 'instances_status';
  return parentId === null ? 'instances_roots' : 'instances_started';
}

function positionOf(
  filter: InstanceFilter,
  { after, until }: PathSection,
  idColumn: 'id' | 'instanceId',
): readonly Sql[] {
  const { direction, time } = orderOf(filter);
  const place = `(${time}, ${idColumn})`;
  const [beyond, upTo] = direction === 'DESC' ? ['<', '>='] : ['>', '<='];
  const compared = (operator: string, position: InstancePosition | null): readonly Sql[] =>
    position === null
      ? []
      : [{ text: `${place} ${operator} (?, ?)`, values: [position.time, encodeText(position.id)] }];
  return [...compared(beyond, after), ...compared(upTo, until)];
}

export function whereOf(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return constant('');
  return {
    text: `WHERE ${conditions.map(({ text }) => text).join(' AND ')}`,
    values: conditions.flatMap(({ values }) => values),
  };
}

export function joined(parts: readonly Sql[]): Sql {
  return united(parts, '');
}

function united(parts: readonly Sql[], separator: 'UNION' | 'UNION ALL' | ''): Sql {
  return {
    text: parts.map(({ text }) => text).join(` ${separator} `),
    values: parts.flatMap(({ values }) => values),
  };
}

export function constant(text: string): Sql {
  return { text, values: [] };
}

function equal(column: string, value: SQLInputValue | undefined): readonly Sql[] {
  return comparison(`${column} = ?`, value);
}

function comparison(text: string, value: SQLInputValue | undefined): readonly Sql[] {
  return value === undefined ? [] : [{ text, values: [value] }];
}
