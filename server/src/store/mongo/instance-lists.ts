/** Lists of instances, and counting them: see search-plan.ts. */
import type { Document, Filter } from 'mongodb';
import type { OperationArguments, OperationResult } from '../operations.js';
import type { InstanceFilter, InstancePosition } from '../records/instance-lists.js';
import {
  CONSIDERED_CONDITIONS_MAX,
  shortestPath,
  SHORT_PATH_MAX,
  walkSteps,
  type SearchPath,
} from '../search-plan.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { InstanceDocument } from './collections.js';
import { summaryOf } from './instance-documents.js';
import type { MongoContext } from './mongo-context.js';
import { encodeOptional } from './packed-text.js';
import { filterOf } from './term-fields.js';

type InstanceCondition = Filter<InstanceDocument>;

/** Lists do not need them, and they may be long. */
export const WITHOUT_LONG_FIELDS = { state: 0, inbox: 0, audit: 0, input: 0 } as const;

export async function listInstances(
  context: MongoContext,
  [{ after, filter, limit }]: OperationArguments<'listInstances'>,
): Promise<OperationResult<'listInstances'>> {
  const walk = await planWalk(context, filter);
  const found: InstanceDocument[] = [];
  let position = after;
  for (const step of stepsOf(walk, limit)) {
    found.push(
      ...(await context.instances
        .aggregate<InstanceDocument>([
          ...entriesOn(walk, position, step),
          ...matching(walk.others),
          { $limit: limit - found.length },
          { $project: WITHOUT_LONG_FIELDS },
        ])
        .toArray()),
    );
    if (found.length === limit || walk.others.length === 0) {
      return { items: found.map(summaryOf), searchedTo: null };
    }
    position = await positionAfter(context, walk, position, step);
    if (position === null) break;
  }
  return { items: found.map(summaryOf), searchedTo: position };
}

export async function countInstances(
  context: MongoContext,
  [{ after, filter, max }]: OperationArguments<'countInstances'>,
): Promise<OperationResult<'countInstances'>> {
  const walk = await planWalk(context, filter);
  let count = 0;
  let position = after;
  for (const step of stepsOf(walk, max)) {
    const stages = [...entriesOn(walk, position, step), ...matching(walk.others), { $count: 'n' }];
    const [counted] = await context.instances.aggregate<{ readonly n: number }>(stages).toArray();
    count += counted?.n ?? 0;
    if (count >= max) return { count: max, searchedTo: null };
    position = await positionAfter(context, walk, position, step);
    if (position === null) break;
  }
  return { count, searchedTo: position };
}

interface ListPath extends SearchPath {
  readonly conditions: readonly InstanceCondition[];
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

/** If every entry of the path is wanted, one step is enough. */
function stepsOf({ others }: Walk, wanted: number): Iterable<number> {
  return others.length === 0 ? [wanted] : walkSteps(wanted);
}

function pathsOf(filter: InstanceFilter): readonly ListPath[] {
  const conditions = (filter.where ?? []).slice(0, CONSIDERED_CONDITIONS_MAX);
  const { endedFrom, endedTo } = filter;
  const isEnded = endedFrom !== undefined || endedTo !== undefined;
  const isInOrder = orderOf(filter).field === 'startTime';
  const unordered = { covers: null, isOrdered: false };
  return [
    ...conditions.map((condition) => ({
      covers: condition.operator === '!=' ? null : condition,
      isOrdered: condition.operator === '=' && isInOrder,
      conditions: [filterOf(condition), ...startConditions(filter)],
    })),
    ...(isEnded ? [{ ...unordered, conditions: endConditions(filter) }] : []),
    { covers: null, isOrdered: true, conditions: servedConditions(filter) },
  ];
}

/** Up to one more than a short path has. There is nothing to compare if there is only one. */
async function lengthsOf(
  { instances }: MongoContext,
  paths: readonly ListPath[],
): Promise<readonly number[]> {
  if (paths.length === 1) return [0];
  return Promise.all(
    paths.map(({ conditions }) =>
      instances.countDocuments(allOf(conditions), { limit: SHORT_PATH_MAX + 1 }),
    ),
  );
}

/** The next entries of the path, in the order of the list. */
function entriesOn(
  { filter, path }: Walk,
  after: InstancePosition | null,
  step: number,
): readonly Document[] {
  const { field } = orderOf(filter);
  const stages = [{ $match: entriesFilter(filter, path, after) }];
  // What has to be sorted must fit into memory.
  const short = path.isOrdered ? [] : [{ $project: WITHOUT_LONG_FIELDS }];
  return [...stages, ...short, { $sort: sortBy(field, filter) }, { $limit: step }];
}

function entriesFilter(
  filter: InstanceFilter,
  path: ListPath,
  after: InstancePosition | null,
): InstanceCondition {
  const ordered = path.isOrdered ? [] : timeConditions(filter);
  return allOf([...path.conditions, ...ordered, ...positionOf(filter, after)]);
}

function matching(conditions: readonly InstanceCondition[]): readonly Document[] {
  return conditions.length === 0 ? [] : [{ $match: allOf(conditions) }];
}

function allOf(conditions: readonly InstanceCondition[]): InstanceCondition {
  return conditions.length === 0 ? {} : { $and: [...conditions] };
}

/** The position of the last entry of a step; null: the path has no more entries. */
async function positionAfter(
  { instances }: MongoContext,
  { filter, path }: Walk,
  after: InstancePosition | null,
  step: number,
): Promise<InstancePosition | null> {
  const { field } = orderOf(filter);
  const [last] = await instances
    .find(entriesFilter(filter, path, after), { projection: { [field]: 1 } })
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
  const { definitionId, outcome, parentId, reference, status } = filter;
  const conditions: InstanceCondition[] = [];
  if (status !== undefined) conditions.push({ status });
  if (definitionId !== undefined) conditions.push({ definitionId: encodeText(definitionId) });
  if (reference !== undefined) conditions.push({ reference: encodeText(reference) });
  if (outcome !== undefined) conditions.push({ outcome });
  // Null represents absent.
  if (parentId !== undefined) conditions.push({ parentId: encodeOptional(parentId) });
  return [...conditions, ...timeConditions(filter)];
}

/** The other conditions, except those on tags and index fields. */
function unservedConditions(filter: InstanceFilter): readonly InstanceCondition[] {
  const { version } = filter;
  return [...(version === undefined ? [] : [{ version }]), ...endConditions(filter)];
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

/** The first condition bounds the index; the second skips items of the previous page with the same time. */
function positionOf(
  filter: InstanceFilter,
  after: InstancePosition | null,
): readonly InstanceCondition[] {
  if (after === null) return [];
  const { field, isNewestFirst } = orderOf(filter);
  const beyond = isNewestFirst ? '$lt' : '$gt';
  return [
    { [field]: { [`${beyond}e`]: after.time } },
    { $or: [{ [field]: { [beyond]: after.time } }, { _id: { [beyond]: encodeText(after.id) } }] },
  ];
}
