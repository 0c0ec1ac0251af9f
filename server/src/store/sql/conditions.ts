/** Parts of statements with their values, and the conditions on instances that lists and searches are composed of (SQL2). */
import type { TermCondition } from '../index-terms.js';
import { ANY_VALUE, prefixRanges } from '../index-terms.js';
import { indexIn, tagsIn } from '../json-columns.js';
import { fulfills, type IndexCondition } from '../records/index-conditions.js';
import type { InstanceFilter } from '../records/instance-lists.js';
import { AFTER_ENCODED, partOfJson } from '../text-search.js';
import { StorableText, type SqlParameter } from './columns.js';
import type { StoredRow } from './stored-row.js';

export interface Sql {
  readonly text: string;
  readonly values: readonly SqlParameter[];
}

export function sql(text: string, ...values: readonly SqlParameter[]): Sql {
  return { text, values };
}

export function joined(parts: readonly Sql[], separator = ' '): Sql {
  return {
    text: parts.map(({ text }) => text).join(separator),
    values: parts.flatMap(({ values }) => values),
  };
}

export function whereOf(conditions: readonly Sql[]): Sql {
  if (conditions.length === 0) return sql('');
  const { text, values } = joined(conditions, ' AND ');
  return { text: `WHERE ${text}`, values };
}

/** No condition without a value. */
export function comparison(
  text: string,
  value: SqlParameter | undefined,
  ...others: readonly SqlParameter[]
): readonly Sql[] {
  return value === undefined ? [] : [sql(text, value, ...others)];
}

/** The conditions on the columns of instances for which there are indexes. */
export function servedConditions(filter: InstanceFilter): readonly Sql[] {
  const { definitionId, failure, outcome, parentId, queued, reference, status } = filter;
  return [
    ...comparison('status = ?', status),
    ...failureCondition(failure),
    ...comparison('definitionId = ?', definitionId),
    ...comparison('reference = ?', reference),
    ...comparison('outcome = ?', outcome),
    ...comparison('parentId = ?', parentId ?? undefined),
    // These match the predicates of partial indexes, which the databases can't infer from a parameter.
    ...(outcome === 'Succeeded' ? [sql(`status = 'Complete'`)] : []),
    ...(outcome !== undefined && outcome !== 'Succeeded' ? [IS_NO_SUCCESS] : []),
    ...(parentId === null ? [IS_ROOT] : []),
    ...(queued === true ? [IS_QUEUED] : []),
    ...timeConditions(filter),
  ];
}

export const IS_NO_SUCCESS = sql(`outcome <> 'Succeeded'`);
export const IS_ROOT = sql('parentId IS NULL');
export const IS_QUEUED = sql(`queued = TRUE AND status IN ('Runnable', 'Suspended')`);

/** The other conditions on columns, except those on tags and index fields. */
export function otherConditions(filter: InstanceFilter): readonly Sql[] {
  return [
    ...comparison('version = ?::bigint', filter.version),
    ...definitionConditions(filter),
    ...endConditions(filter),
    ...partConditions(filter),
  ];
}

export function failureCondition(failure: string | undefined): readonly Sql[] {
  return comparison('failureKey = ? {AND failureKey IS NOT NULL}', failure);
}

export function definitionConditions({
  definitionPrefixes,
}: Pick<InstanceFilter, 'definitionPrefixes'>): readonly Sql[] {
  if (definitionPrefixes === undefined) return [];
  const ranges = prefixRanges(definitionPrefixes).map(({ from, to }) =>
    sql(
      '(definitionId >= ?::text AND definitionId < ?::text)',
      new StorableText(from),
      new StorableText(to),
    ),
  );
  if (ranges.length === 0) return [sql('FALSE')];
  const { text, values } = joined(ranges, ' OR ');
  return [{ text: `(${text})`, values }];
}

/** Encoded text may contain the part in another form, so it always passes. */
function partConditions({ mayContain }: InstanceFilter): readonly Sql[] {
  if (mayContain === undefined) return [];
  const inColumn = ['id', 'reference'].map(
    (column) => `instr(${column}, ?::text) > 0 OR ${column} < ?::text`,
  );
  const inJson = ['tags', 'fields'].map((column) => `instr(${column}, ?::text) > 0`);
  const [part, json] = [new StorableText(mayContain), new StorableText(partOfJson(mayContain))];
  const encoded = new StorableText(AFTER_ENCODED);
  const text = `(${[...inColumn, ...inJson].join(' OR ')})`;
  return [sql(text, part, encoded, part, encoded, json, json)];
}

export function timeConditions(filter: InstanceFilter): readonly Sql[] {
  const { failedFrom, unchangedSince } = filter;
  return [
    ...startConditions(filter),
    ...comparison('errorAt >= ? {AND errorAt IS NOT NULL}', failedFrom),
    ...comparison(`lastChangeAt < ? AND status IN ('Runnable', 'Suspended')`, unchangedSince),
  ];
}

export function startConditions({ startedFrom, startedTo }: InstanceFilter): readonly Sql[] {
  return [
    ...comparison('startTime >= ?::bigint', startedFrom),
    ...comparison('startTime < ?::bigint', startedTo),
  ];
}

export function endConditions({ endedFrom, endedTo }: InstanceFilter): readonly Sql[] {
  return [
    ...comparison('endTime >= ?::bigint {AND endTime IS NOT NULL}', endedFrom),
    ...comparison('endTime < ?::bigint {AND endTime IS NOT NULL}', endedTo),
  ];
}

/** Conditions on terms: one list for each value or range. */
export function valueConditions(condition: TermCondition): readonly (readonly Sql[])[] {
  const name = new StorableText(condition.name);
  if (condition.kind === 'equal') {
    return condition.values.map((value) => [
      sql('name = ? AND value = ?', name, new StorableText(value)),
    ]);
  }
  const ranges = condition.kind === 'range' ? condition.ranges : [ANY_VALUE];
  if (ranges.length === 0) return [[sql('name = ? AND FALSE', name)]];
  return ranges.map(({ from, to }) => [
    sql(
      'name = ? AND value >= ? AND value < ?',
      name,
      new StorableText(from),
      new StorableText(to),
    ),
  ]);
}

/** Conditions on tags and index fields, checked on a row with the columns `tags` and `fields`. */
export function fulfillsAll(
  row: Pick<StoredRow, 'textOrNull'>,
  where: readonly IndexCondition[],
): boolean {
  if (where.length === 0) return true;
  const fields = {
    tags: tagsIn(row.textOrNull('tags')),
    index: indexIn(row.textOrNull('fields')),
  };
  return where.every((condition) => fulfills(fields, condition));
}
