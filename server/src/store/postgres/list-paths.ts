/** The paths to the instances of a list, as queries: see search-plan.ts. */
import { ANY_VALUE, termConditionOf, prefixRanges } from '../index-terms.js';
import type { IndexCondition } from '../records/index-conditions.js';
import type { InstanceFilter } from '../records/instance-lists.js';
import { pathsFor, type PathSection, type SearchPath } from '../search-plan.js';
import { encodeTextWithoutNul } from '../text-codec.js';
import { AFTER_ENCODED, partOfJson } from '../text-search.js';
import { CHANGE_SPAN_MS } from './instance-rows.js';
import type { Parameters } from './parameters.js';
import { withoutNul } from './text-search.js';

export interface ListPath extends SearchPath {
  /** The next entries of a section in the order of the list, as `entry_time` and `entry_id`. */
  readonly entries: (parameters: Parameters, section: PathSection, limit: string) => string;
  /** A query with a row for each of its entries, in any order. */
  readonly counted: (parameters: Parameters) => string;
}

export interface ListOrder {
  readonly time: 'start_time' | 'error_at' | 'last_change_at';
  /** The indexed column that approximates the time, if the time itself is not indexed. */
  readonly span: 'change_span' | null;
  readonly direction: 'ASC' | 'DESC';
}

export function orderOf({ failedFrom, unchangedSince }: InstanceFilter): ListOrder {
  if (failedFrom !== undefined) return { time: 'error_at', span: null, direction: 'DESC' };
  if (unchangedSince !== undefined) {
    return { time: 'last_change_at', span: 'change_span', direction: 'ASC' };
  }
  return { time: 'start_time', span: null, direction: 'DESC' };
}

export function pathsOf(filter: InstanceFilter): readonly ListPath[] {
  return pathsFor<ListPath>(filter, {
    term: termPath,
    version: versionPath,
    ended: endedPath,
    instance: instancePath,
  });
}

/** All instances that some index of their own columns finds, in the order of the list. */
function instancePath(filter: InstanceFilter): ListPath {
  return {
    covers: null,
    isOrdered: true,
    counted: (parameters) =>
      `SELECT 1 FROM @instances ${whereOf(servedConditions(filter, parameters))}`,
    entries: (parameters, section, limit) =>
      instanceEntries(filter, limit, [
        ...servedConditions(filter, parameters),
        ...positionOf(filter, section, parameters),
      ]),
  };
}

function versionPath(filter: InstanceFilter): ListPath {
  const { definitionId = '', version = 0 } = filter;
  const conditions = (parameters: Parameters): string[] => [
    `definition_id = ${parameters.add(encodeTextWithoutNul(definitionId))}`,
    `version = ${parameters.add(version)}::bigint`,
    ...startConditions(filter, parameters),
  ];
  return {
    covers: null,
    isOrdered: true,
    counted: (parameters) => `SELECT 1 FROM @instances ${whereOf(conditions(parameters))}`,
    entries: (parameters, section, limit) =>
      instanceEntries(filter, limit, [
        ...conditions(parameters),
        ...positionOf(filter, section, parameters),
      ]),
  };
}

function endedPath(filter: InstanceFilter): ListPath {
  return {
    covers: null,
    isOrdered: false,
    counted: (parameters) =>
      `SELECT 1 FROM @instances ${whereOf(endConditions(filter, parameters))}`,
    entries: (parameters, section, limit) =>
      // Without the barrier, the planner may walk the order of the list instead of the few instances.
      `SELECT entry_time, entry_id FROM (
         SELECT ${orderOf(filter).time} AS entry_time, id AS entry_id FROM @instances
           ${whereOf([
             ...endConditions(filter, parameters),
             ...timeConditions(filter, parameters),
             ...positionOf(filter, section, parameters),
           ])} OFFSET 0
       ) AS ended ${entryOrder(filter)} LIMIT ${limit}`,
  };
}

function termPath(condition: IndexCondition, filter: InstanceFilter): ListPath {
  const isInOrder = orderOf(filter).time === 'start_time';
  const partsOf = (select: string, parameters: Parameters, more: () => readonly string[]) =>
    valueConditions(condition, parameters).map(
      (part) => `SELECT ${select} FROM @terms ${whereOf([...part, ...more()])}`,
    );
  const isEqual = condition.operator === '=';
  return {
    covers: condition.operator === '!=' ? null : condition,
    isOrdered: isEqual && isInOrder,
    // In a range, the start follows the value: it would not bound what is read.
    counted: (parameters) =>
      partsOf('1', parameters, () => (isEqual ? startConditions(filter, parameters) : [])).join(
        ' UNION ALL ',
      ),
    entries: (parameters, section, limit) => {
      if (!isInOrder) {
        const ids = partsOf('instance_id', parameters, () =>
          startConditions(filter, parameters),
        ).join(' UNION ');
        return instanceEntries(filter, limit, [
          `id = ANY(ARRAY(${ids}))`,
          ...timeConditions(filter, parameters),
          ...positionOf(filter, section, parameters),
        ]);
      }
      const select = 'start_time AS entry_time, instance_id AS entry_id';
      const parts = partsOf(isEqual ? select : `DISTINCT ${select}`, parameters, () => [
        ...startConditions(filter, parameters),
        ...positionOf(filter, section, parameters, 'instance_id'),
      ]);
      const limited = parts.map((part) => `(${part} ${entryOrder(filter)} LIMIT ${limit})`);
      const united = limited.join(' UNION ');
      return `SELECT * FROM (${united}) AS found ${entryOrder(filter)} LIMIT ${limit}`;
    },
  };
}

function instanceEntries(
  filter: InstanceFilter,
  limit: string,
  conditions: readonly string[],
): string {
  const { direction, span, time } = orderOf(filter);
  const order = [...(span === null ? [] : [span]), time, 'id'].map(
    (each) => `${each} ${direction}`,
  );
  return `SELECT ${time} AS entry_time, id AS entry_id FROM @instances ${whereOf(conditions)}
    ORDER BY ${order.join(', ')} LIMIT ${limit}`;
}

export function entryOrder(filter: InstanceFilter): string {
  const { direction } = orderOf(filter);
  return `ORDER BY entry_time ${direction}, entry_id ${direction}`;
}

/** One list of conditions for each value or range. */
function valueConditions(
  condition: IndexCondition,
  parameters: Parameters,
): readonly (readonly string[])[] {
  const terms = termConditionOf(condition);
  const name = parameters.add(terms.name);
  if (terms.kind === 'equal') {
    return terms.values.map((value) => [`name = ${name}`, `value = ${parameters.add(value)}`]);
  }
  const ranges = terms.kind === 'range' ? terms.ranges : [ANY_VALUE];
  if (ranges.length === 0) return [[`name = ${name}`, 'false']];
  return ranges.map(({ from, to }) => [
    `name = ${name}`,
    `value >= ${parameters.add(from)}`,
    `value < ${parameters.add(to)}`,
  ]);
}

/** The conditions on columns of instances for which there are indexes. */
export function servedConditions(filter: InstanceFilter, parameters: Parameters): string[] {
  const { definitionId, failure, outcome, parentId, reference, status } = filter;
  const conditions: string[] = [];
  const equal = (column: string, value: string | undefined): void => {
    if (value === undefined) return;
    conditions.push(`${column} = ${parameters.add(encodeTextWithoutNul(value))}`);
  };
  equal('status', status);
  equal('definition_id', definitionId);
  equal('reference', reference);
  equal('outcome', outcome);
  equal('parent_id', parentId ?? undefined);
  equal('failure_key', failure);
  // These conditions match those of the partial indexes, which the planner cannot infer from a parameter.
  if (outcome === 'Succeeded') conditions.push(`status = 'Complete'`);
  else if (outcome !== undefined) conditions.push(`outcome <> 'Succeeded'`);
  if (parentId === null) conditions.push('parent_id IS NULL');
  return [...conditions, ...timeConditions(filter, parameters)];
}

/** The other conditions on columns. */
export function unservedConditions(filter: InstanceFilter, parameters: Parameters): string[] {
  const { version } = filter;
  return [
    ...(version === undefined ? [] : [`version = ${parameters.add(version)}::bigint`]),
    ...definitionConditions(filter, parameters),
    ...endConditions(filter, parameters),
    ...partConditions(filter, parameters),
  ];
}

export function definitionConditions(
  { definitionPrefixes }: Pick<InstanceFilter, 'definitionPrefixes'>,
  parameters: Parameters,
): readonly string[] {
  if (definitionPrefixes === undefined) return [];
  const ranges = prefixRanges(definitionPrefixes).map(
    ({ from, to }) =>
      `(definition_id >= ${parameters.add(from)}::text AND definition_id < ${parameters.add(to)}::text)`,
  );
  return [ranges.length === 0 ? 'false' : `(${ranges.join(' OR ')})`];
}

function partConditions({ mayContain }: InstanceFilter, parameters: Parameters): readonly string[] {
  if (mayContain === undefined) return [];
  const text = parameters.add(withoutNul(mayContain));
  const encoded = parameters.add(AFTER_ENCODED);
  const json = parameters.add(partOfJson(mayContain));
  const inColumn = ['id', 'reference'].map(
    (column) => `strpos(${column}, ${text}::text) > 0 OR ${column} < ${encoded}::text`,
  );
  const inJson = ['tags', 'fields'].map((column) => `strpos(${column}, ${json}::text) > 0`);
  return [`(${[...inColumn, ...inJson].join(' OR ')})`];
}

function timeConditions(filter: InstanceFilter, parameters: Parameters): string[] {
  const { failedFrom, unchangedSince } = filter;
  const conditions = startConditions(filter, parameters);
  if (failedFrom !== undefined) conditions.push(`error_at >= ${parameters.add(failedFrom)}`);
  if (unchangedSince !== undefined) {
    conditions.push(
      `last_change_at < ${parameters.add(unchangedSince)}`,
      `change_span <= ${parameters.add(Math.floor(unchangedSince / CHANGE_SPAN_MS))}`,
      `status IN ('Runnable', 'Suspended')`,
    );
  }
  return conditions;
}

function startConditions(
  { startedFrom, startedTo }: InstanceFilter,
  parameters: Parameters,
): string[] {
  return [
    ...(startedFrom === undefined ? [] : [`start_time >= ${parameters.add(startedFrom)}::bigint`]),
    ...(startedTo === undefined ? [] : [`start_time < ${parameters.add(startedTo)}::bigint`]),
  ];
}

function endConditions({ endedFrom, endedTo }: InstanceFilter, parameters: Parameters): string[] {
  return [
    ...(endedFrom === undefined ? [] : [`end_time >= ${parameters.add(endedFrom)}::bigint`]),
    ...(endedTo === undefined ? [] : [`end_time < ${parameters.add(endedTo)}::bigint`]),
  ];
}

function positionOf(
  filter: InstanceFilter,
  { after, until }: PathSection,
  parameters: Parameters,
  idColumn: 'id' | 'instance_id' = 'id',
): readonly string[] {
  const { direction, span, time } = orderOf(filter);
  const last: string[] = [];
  if (until !== null) {
    const position = `${parameters.add(until.time)}::bigint, ${parameters.add(encodeTextWithoutNul(until.id))}::text`;
    last.push(`(${time}, ${idColumn}) ${direction === 'DESC' ? '>=' : '<='} (${position})`);
  }
  if (after === null) return last;
  const beyond = direction === 'DESC' ? '<' : '>';
  const position = `${parameters.add(after.time)}::bigint, ${parameters.add(encodeTextWithoutNul(after.id))}::text`;
  const conditions = [`(${time}, ${idColumn}) ${beyond} (${position})`];
  if (span !== null) {
    conditions.push(`${span} >= ${parameters.add(Math.floor(after.time / CHANGE_SPAN_MS))}`);
  }
  return [...conditions, ...last];
}

export function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}
