/**
 * Finds instances by any part of their id, reference, tags and index fields.
 *
 * A store's indexes find the beginnings of these texts, among any number of instances. To find text in the middle, instances
 * are scanned, newest first, for a bounded time; the result contains how far the scan got, and its cursor continues from there.
 */
import type { Clock } from '../../base/clock.js';
import { definitionsWithin, allowsName, type AllowedNames } from '../../base/allowed-names.js';
import type { IndexValue } from '../../engine/values/index-fields.js';
import { elementsOf } from '../../engine/values/index-fields.js';
import { fulfills } from '../../store/records/index-conditions.js';
import type { InstancePosition } from '../../store/records/instance-lists.js';
import type { InstanceSummary } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import { writtenValue } from '../../store/text-search.js';
import { searches } from '../model/bounded-search.js';
import type { InstanceListItem } from '../model/instance-types.js';
import { listItem } from '../instance-state/instance-views.js';
import { decodeCursor, encodeCursor } from '../model/paging.js';
import { readings } from '../model/parse-condition.js';

/** Number of entries read from the indexes for a caller who may not see all of them. */
const NARROWED_LIMIT = 100;
/** An index field may have a thousand elements. */
const MATCHES_MAX = 5;

export interface FindRequest {
  /** Not empty. */
  readonly text: string;
  readonly limit: number;
  /** The cursor of the previous result; null for the first. */
  readonly cursor: string | null;
}

export interface InstanceMatch {
  readonly of: 'id' | 'reference' | 'tag' | 'index';
  /** The name of the tag or index field; null for others. */
  readonly name: string | null;
  readonly value: IndexValue;
  /** The position of the text in the value. */
  readonly relation: 'equal' | 'start' | 'part';
}

export interface FoundInstance {
  readonly instance: InstanceListItem;
  /** At least one; closest first. */
  readonly matches: readonly InstanceMatch[];
}

export interface InstanceFindings {
  /** Instances with an equal value first, then those with a value that starts with the text; each ordered by newest start. */
  readonly items: readonly FoundInstance[];
  /** False: more instances may have a value that starts with the text. */
  readonly exact: boolean;
  /** Instances that started at this time or later were searched completely; null: all instances were. */
  readonly partsFrom: number | null;
  /** Continues the scan in older instances; null: all were scanned. */
  readonly nextCursor: string | null;
  /** The definition id that equals the text. */
  readonly definitionId: string | null;
}

interface Context {
  readonly store: Store;
  readonly clock: Clock;
}

const RANKS: Readonly<Record<InstanceMatch['relation'], number>> = { equal: 0, start: 1, part: 2 };

/** @throws AppError `invalid_request` for a cursor of another search */
export async function findInstances(
  context: Context,
  request: FindRequest,
  allowed: AllowedNames,
): Promise<InstanceFindings> {
  const { cursor, limit, text } = request;
  const list = `found ${limit} ${text}`;
  const position = decodeCursor(cursor, list);
  const [byIndex, definition] = await Promise.all([
    findByIndex(context.store, request, allowed),
    context.store.getDefinition(text, 'latest'),
  ]);
  // The first result already contained them.
  const known = new Set(byIndex.items.map(({ instance }) => instance.id));
  const shown = position === null ? byIndex.items : [];
  const { items: others, searchedTo } = await findParts(context, request, {
    allowed,
    known,
    after: position === null ? null : { time: Number(position[0]), id: position[1] ?? '' },
    wanted: limit - shown.length,
  });
  return {
    items: [...shown, ...others].sort(closestFirst),
    exact: searchedTo === null || byIndex.isComplete,
    partsFrom: searchedTo?.time ?? null,
    nextCursor:
      searchedTo === null ? null : encodeCursor(list, [String(searchedTo.time), searchedTo.id]),
    definitionId: definition === null || !allowsName(allowed, text) ? null : text,
  };
}

/** Instances with a value that begins with the text, up to the limit. */
async function findByIndex(
  store: Store,
  { limit, text }: FindRequest,
  allowed: AllowedNames,
): Promise<{ readonly items: readonly FoundInstance[]; readonly isComplete: boolean }> {
  const values = readings(text);
  const isNarrowed = allowed !== 'all';
  const { isComplete, items } = await store.findInstancesByText({
    text,
    values,
    limit: isNarrowed ? NARROWED_LIMIT : limit,
  });
  const found = items
    .filter(({ definitionId }) => allowsName(allowed, definitionId))
    .flatMap((summary) => foundInstance(summary, text, values) ?? [])
    .sort(closestFirst);
  return {
    items: found.slice(0, limit),
    // Whether there are more would reveal instances that the caller may not see.
    isComplete: isComplete && !isNarrowed && found.length <= limit,
  };
}

interface PartSearch {
  readonly allowed: AllowedNames;
  readonly known: ReadonlySet<string>;
  readonly after: InstancePosition | null;
  readonly wanted: number;
}

/** @returns `searchedTo`: null if there are no older instances */
async function findParts(
  { clock, store }: Context,
  { text }: FindRequest,
  { after: from, known, allowed, wanted }: PartSearch,
): Promise<{
  readonly items: readonly FoundInstance[];
  readonly searchedTo: InstancePosition | null;
}> {
  const values = readings(text);
  const filter = { ...definitionsWithin(allowed), mayContain: text };
  const items: FoundInstance[] = [];
  let after = from;
  for (const isLast of searches(clock)) {
    const limit = wanted - items.length;
    // Nothing has been scanned yet: an instance that starts now would be the first.
    if (limit === 0) return { items, searchedTo: after ?? { time: clock.now() + 1, id: '' } };
    const part = await store.listInstances({ filter, after, limit });
    items.push(
      ...part.items
        .filter(({ id }) => !known.has(id))
        .flatMap((summary) => foundInstance(summary, text, values) ?? []),
    );
    const last = part.items.at(-1);
    const isFull = part.items.length === limit && last !== undefined;
    after = isFull ? { time: last.startTime, id: last.id } : part.searchedTo;
    if (after === null || isLast()) break;
  }
  return { items, searchedTo: after };
}

function closestFirst(a: FoundInstance, b: FoundInstance): number {
  return (
    rankOf(a) - rankOf(b) ||
    b.instance.startTime - a.instance.startTime ||
    (a.instance.id < b.instance.id ? 1 : -1)
  );
}

function rankOf({ matches: [closest] }: FoundInstance): number {
  return closest === undefined ? Infinity : RANKS[closest.relation];
}

/** Null: it doesn't contain the text after all. */
function foundInstance(
  summary: InstanceSummary,
  text: string,
  values: readonly IndexValue[],
): FoundInstance | null {
  const matches = matchesOf(summary, text, values);
  return matches.length === 0 ? null : { instance: listItem(summary), matches };
}

function matchesOf(
  { id, index, reference, tags }: InstanceSummary,
  text: string,
  values: readonly IndexValue[],
): readonly InstanceMatch[] {
  const matches: InstanceMatch[] = [];
  const compare = (of: InstanceMatch['of'], name: string | null, value: IndexValue): void => {
    const relation = relationOf(value, text, values);
    if (relation !== null) matches.push({ of, name, value, relation });
  };
  compare('id', null, id);
  if (reference !== null) compare('reference', null, reference);
  for (const [name, value] of Object.entries(tags)) compare('tag', name, value);
  for (const [name, value] of Object.entries(index)) {
    for (const element of elementsOf(value)) compare('index', name, element);
  }
  return matches.sort((a, b) => RANKS[a.relation] - RANKS[b.relation]).slice(0, MATCHES_MAX);
}

function relationOf(
  value: IndexValue,
  text: string,
  values: readonly IndexValue[],
): InstanceMatch['relation'] | null {
  const sought = { of: 'field', name: 'value', operator: '=', values } as const;
  if (fulfills({ index: { value }, tags: {} }, sought)) return 'equal';
  const at = writtenValue(value)?.indexOf(text) ?? -1;
  if (at === -1) return null;
  // The indexes don't find prefixes of numbers.
  return at === 0 && typeof value === 'string' ? 'start' : 'part';
}
