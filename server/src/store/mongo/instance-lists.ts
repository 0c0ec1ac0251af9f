/** Lists of instances, and counting them: see search-plan.ts. */
import type { Document, Filter } from 'mongodb';
import { prefixRanges } from '../index-terms.js';
import type { InstanceFilter, InstancePosition } from '../records/instance-lists.js';
import {
  COUNTED_AT_ONCE_MAX,
  pathsFor,
  SECTION_MAX,
  shortestPath,
  SHORT_PATH_MAX,
  walkSteps,
  type PathSection,
  type SearchPath,
} from '../search-plan.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { decodeText, encodeOptional, encodeText } from '../text-codec.js';
import { AFTER_ENCODED, partOfJson } from '../text-search.js';
import type { InstanceDocument } from './documents.js';
import { summaryOf } from './instance-documents.js';
import type { MongoContext } from './mongo-context.js';
import { filterOf } from './term-fields.js';

type InstanceCondition = Filter<InstanceDocument>;

/** Lists don't need them, and they may be long. */
export const WITHOUT_LONG_FIELDS = { state: 0, inbox: 0, audit: 0, input: 0 } as const;

export async function listInstances(
  context: MongoContext,
  [{ after: position, filter, limit }]: OperationArguments<'listInstances'>,
): Promise<OperationResult<'listInstances'>> {
  const walk = await planWalk(context, filter);
  const isSearch = walk.others.length > 0;
  const found: InstanceDocument[] = [];
  let after = position;
  for (const step of walkSteps(limit)) {
    // The end of the section is fixed before it is read: others may insert and remove instances in between.
    const until = isSearch ? await sectionEnd(context, walk, after, step) : null;
    found.push(
      ...(await context.instances
        .aggregate<InstanceDocument>([
          ...entriesOn(walk, { after, until }, isSearch ? SECTION_MAX : limit),
          ...matching(walk.others),
          { $limit: limit - found.length },
          { $project: WITHOUT_LONG_FIELDS },
        ])
        .toArray()),
    );
    after = found.length === limit ? null : until;
    if (after === null) break;
  }
  return { items: found.map(summaryOf), searchedTo: after };
}

export async function getSummaries(
  { instances }: MongoContext,
  [ids]: OperationArguments<'getSummaries'>,
): Promise<OperationResult<'getSummaries'>> {
  const filter = { _id: { $in: ids.map(encodeText) } };
  return (await instances.find(filter, { projection: WITHOUT_LONG_FIELDS }).toArray()).map(
    summaryOf,
  );
}

export async function countInstances(
  context: MongoContext,
  [{ after: position, filter, max }]: OperationArguments<'countInstances'>,
): Promise<OperationResult<'countInstances'>> {
  const walk = await planWalk(context, filter);
  if (walk.others.length === 0 && walk.path.isOrdered && max <= COUNTED_AT_ONCE_MAX) {
    return {
      count: await countOn(context, walk, { after: position, until: null }, max),
      searchedTo: null,
    };
  }
  let count = 0;
  let after = position;
  for (const step of walkSteps(max)) {
    const until = await sectionEnd(context, walk, after, step);
    count += await countOn(context, walk, { after, until }, SECTION_MAX);
    if (count >= max) return { count: max, searchedTo: null };
    after = until;
    if (after === null) break;
  }
  return { count, searchedTo: after };
}

async function countOn(
  { instances }: MongoContext,
  walk: Walk,
  section: PathSection,
  entriesMax: number,
): Promise<number> {
  const entries = entriesOn(walk, section, entriesMax);
  const stages = [...entries, ...matching(walk.others), { $count: 'n' }];
  const [counted] = await instances.aggregate<{ readonly n: number }>(stages).toArray();
  return counted?.n ?? 0;
}

interface ListPath extends SearchPath {
  readonly conditions: readonly InstanceCondition[];
  /** Those that bound the scan that counts its entries. */
  readonly counted: readonly InstanceCondition[];
}

/** How the instances of a list are found. */
interface Walk {
  readonly filter: InstanceFilter;
  readonly path: ListPath;
  /** Conditions that not all instances on the path fulfill. */
  readonly others: readonly InstanceCondition[];
}

async function planWalk(context: MongoContext, filter: InstanceFilter): Promise<Walk> {
  const paths = pathsOf(filter);
  const path = shortestPath(paths, await lengthsOf(context, paths));
  const where = (filter.where ?? []).filter((condition) => condition !== path.covers);
  const isDirect = path === paths.at(-1);
  const served = isDirect ? [] : servedConditions(filter);
  return {
    filter,
    path,
    others: [...served, ...unservedConditions(filter), ...where.map(filterOf)],
  };
}

function pathsOf(filter: InstanceFilter): readonly ListPath[] {
  const isInOrder = orderOf(filter).field === 'startTime';
  const unordered = { covers: null, isOrdered: false };
  const [ended, served] = [endConditions(filter), servedConditions(filter)];
  const { definitionId = '', version = 0 } = filter;
  const ofVersion = [
    { definitionId: encodeText(definitionId), version },
    ...startConditions(filter),
  ];
  return pathsFor<ListPath>(filter, {
    term: (condition) => {
      const isEqual = condition.operator === '=';
      const withStart = [filterOf(condition), ...startConditions(filter)];
      return {
        covers: condition.operator === '!=' ? null : condition,
        isOrdered: isEqual && isInOrder,
        conditions: withStart,
        // In a range, the index sorts by value first, so a bound on the start time wouldn't shorten the scan.
        counted: isEqual ? withStart : [filterOf(condition)],
      };
    },
    version: () => ({ covers: null, isOrdered: true, conditions: ofVersion, counted: ofVersion }),
    ended: () => ({ ...unordered, conditions: ended, counted: ended }),
    instance: () => ({ covers: null, isOrdered: true, conditions: served, counted: served }),
  });
}

/** Up to one more than a short path has. There is nothing to compare if there is only one. */
async function lengthsOf(
  { instances }: MongoContext,
  paths: readonly ListPath[],
): Promise<readonly number[]> {
  if (paths.length === 1) return [0];
  return Promise.all(
    paths.map(({ counted }) =>
      instances.countDocuments(allOf(counted), { limit: SHORT_PATH_MAX + 1 }),
    ),
  );
}

/** The entries of a section of the path, in the order of the list. */
function entriesOn(
  { filter, path }: Walk,
  section: PathSection,
  entriesMax: number,
): readonly Document[] {
  const { field } = orderOf(filter);
  const stages = [{ $match: entriesFilter(filter, path, section) }];
  // What has to be sorted must fit into memory.
  const short = path.isOrdered ? [] : [{ $project: WITHOUT_LONG_FIELDS }];
  return [...stages, ...short, { $sort: sortBy(field, filter) }, { $limit: entriesMax }];
}

function entriesFilter(
  filter: InstanceFilter,
  path: ListPath,
  section: PathSection,
): InstanceCondition {
  const ordered = path.isOrdered ? [] : timeConditions(filter);
  return allOf([...path.conditions, ...ordered, ...positionOf(filter, section)]);
}

function matching(conditions: readonly InstanceCondition[]): readonly Document[] {
  return conditions.length === 0 ? [] : [{ $match: allOf(conditions) }];
}

function allOf(conditions: readonly InstanceCondition[]): InstanceCondition {
  return conditions.length === 0 ? {} : { $and: [...conditions] };
}

/** The position of the last of the next entries; null: there are fewer. */
async function sectionEnd(
  { instances }: MongoContext,
  { filter, path }: Walk,
  after: InstancePosition | null,
  step: number,
): Promise<InstancePosition | null> {
  const { field } = orderOf(filter);
  const [last] = await instances
    .find(entriesFilter(filter, path, { after, until: null }), { projection: { [field]: 1 } })
    .sort(sortBy(field, filter))
    .skip(step - 1)
    .limit(1)
    .toArray();
  return last === undefined ? null : { time: last[field] ?? 0, id: decodeText(last._id) };
}

interface ListOrder {
  readonly field: 'startTime' | 'errorAt' | 'openChangedAt';
  readonly isNewestFirst: boolean;
}

function orderOf({ failedFrom, unchangedSince }: InstanceFilter): ListOrder {
  if (failedFrom !== undefined) return { field: 'errorAt', isNewestFirst: true };
  if (unchangedSince !== undefined) return { field: 'openChangedAt', isNewestFirst: false };
  return { field: 'startTime', isNewestFirst: true };
}

function sortBy(field: ListOrder['field'], filter: InstanceFilter): Record<string, 1 | -1> {
  const direction = orderOf(filter).isNewestFirst ? -1 : 1;
  return { [field]: direction, _id: direction };
}

/** The conditions for which there are indexes. */
function servedConditions(filter: InstanceFilter): InstanceCondition[] {
  const { definitionId, failure, outcome, parentId, queued, reference, status } = filter;
  const conditions: InstanceCondition[] = [];
  if (status !== undefined) conditions.push({ status });
  if (definitionId !== undefined) conditions.push({ definitionId: encodeText(definitionId) });
  if (reference !== undefined) conditions.push({ reference: encodeText(reference) });
  if (queued === true) conditions.push({ queued, openChangedAt: { $exists: true } });
  if (outcome !== undefined) conditions.push({ outcome });
  if (failure !== undefined) conditions.push({ failureKey: failure });
  // Null represents absent.
  if (parentId !== undefined) conditions.push({ parentId: encodeOptional(parentId) });
  return [...conditions, ...timeConditions(filter)];
}

/** The other conditions, except those on tags and index fields. */
function unservedConditions(filter: InstanceFilter): readonly InstanceCondition[] {
  const { version } = filter;
  return [
    ...(version === undefined ? [] : [{ version }]),
    ...definitionConditions(filter),
    ...endConditions(filter),
    ...partConditions(filter),
  ];
}

export function definitionConditions({
  definitionPrefixes,
}: Pick<InstanceFilter, 'definitionPrefixes'>): readonly InstanceCondition[] {
  if (definitionPrefixes === undefined) return [];
  const ranges = prefixRanges(definitionPrefixes);
  // An empty `$or` is an error.
  if (ranges.length === 0) return [{ definitionId: { $in: [] } }];
  return [{ $or: ranges.map(({ from, to }) => ({ definitionId: { $gte: from, $lt: to } })) }];
}

function partConditions({ mayContain }: InstanceFilter): readonly InstanceCondition[] {
  if (mayContain === undefined) return [];
  const [text, json] = [mayContain, partOfJson(mayContain)].map((each) => ({ $literal: each }));
  // A long value is compressed.
  const fields = { $cond: [{ $eq: [{ $type: '$fields' }, 'string'] }, '$fields', ''] };
  const isIn = (value: unknown, part: unknown): InstanceCondition => ({
    $expr: { $gte: [{ $indexOfBytes: [value, part] }, 0] },
  });
  return [
    {
      $or: [
        isIn('$_id', text),
        isIn('$reference', text),
        isIn('$tags', json),
        isIn(fields, json),
        { fields: { $type: 'binData' } },
        { _id: { $lt: AFTER_ENCODED } },
        { reference: { $lt: AFTER_ENCODED } },
      ],
    },
  ];
}

function timeConditions(filter: InstanceFilter): readonly InstanceCondition[] {
  const { failedFrom, unchangedSince } = filter;
  return [
    ...startConditions(filter),
    ...(failedFrom === undefined ? [] : [{ errorAt: { $gte: failedFrom } }]),
    ...(unchangedSince === undefined ? [] : [{ openChangedAt: { $lt: unchangedSince } }]),
  ];
}

function startConditions({ startedFrom, startedTo }: InstanceFilter): readonly InstanceCondition[] {
  return [
    ...(startedFrom === undefined ? [] : [{ startTime: { $gte: startedFrom } }]),
    ...(startedTo === undefined ? [] : [{ startTime: { $lt: startedTo } }]),
  ];
}

/** A range of numbers excludes null. */
function endConditions({ endedFrom, endedTo }: InstanceFilter): readonly InstanceCondition[] {
  return [
    ...(endedFrom === undefined ? [] : [{ endTime: { $gte: endedFrom } }]),
    ...(endedTo === undefined ? [] : [{ endTime: { $lt: endedTo } }]),
  ];
}

/** The first condition of each pair bounds the index; the second separates items with the same time. */
function positionOf(
  filter: InstanceFilter,
  { after, until }: PathSection,
): readonly InstanceCondition[] {
  const { field, isNewestFirst } = orderOf(filter);
  const [later, earlier] = isNewestFirst ? ['$lt', '$gt'] : ['$gt', '$lt'];
  return [
    ...(after === null
      ? []
      : [
          { [field]: { [`${later}e`]: after.time } },
          {
            $or: [{ [field]: { [later]: after.time } }, { _id: { [later]: encodeText(after.id) } }],
          },
        ]),
    ...(until === null
      ? []
      : [
          { [field]: { [`${earlier}e`]: until.time } },
          {
            $or: [
              { [field]: { [earlier]: until.time } },
              { _id: { [`${earlier}e`]: encodeText(until.id) } },
            ],
          },
        ]),
  ];
}
