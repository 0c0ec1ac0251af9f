/**
 * Finds instances by any part of what identifies them: their id, their reference, their tags and their index fields.
 *
 * The indexes of a store find the beginnings of these texts, among any number of instances. What is in the middle of a text is
 * found only in the newest instances, which are read one by one; the findings say how far back that was.
 */
import { definitionsWithin, reaches, type NameReach } from '../../base/name-reach.js';
import type { IndexValue } from '../../engine/values/index-fields.js';
import { elementsOf } from '../../engine/values/index-fields.js';
import { fulfills } from '../../store/records/index-conditions.js';
import type { InstanceList, InstancePosition } from '../../store/records/instance-lists.js';
import type { InstanceSummary } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { InstanceListItem } from './instance-types.js';
import { listItem } from './instance-views.js';
import { readings } from './parse-condition.js';

/** The newest instances, of which every part is searched. */
export const SEARCHED_PARTS_MAX = 1000;
const READ_AT_ONCE = 250;
/** Entries that the indexes give for a caller who may not see all of them. */
const NARROWED_LIMIT = 100;
const READS_MAX = 12;
/** An index field may have a thousand elements. */
const MATCHES_MAX = 5;

export interface FindRequest {
  /** Not empty. */
  readonly text: string;
  readonly limit: number;
}

export interface InstanceMatch {
  readonly of: 'id' | 'reference' | 'tag' | 'index';
  /** Of the tag or the index field; null for others. */
  readonly name: string | null;
  readonly value: IndexValue;
  /** Where the text is in the value. */
  readonly relation: 'equal' | 'start' | 'part';
}

export interface FoundInstance {
  readonly instance: InstanceListItem;
  /** At least one; the closest first. */
  readonly matches: readonly InstanceMatch[];
}

export interface InstanceFindings {
  /** Those with an equal value first, then those with one that starts with the text; among these, the newest start first. */
  readonly items: readonly FoundInstance[];
  /** False: more instances may have a value that starts with the text. */
  readonly exact: boolean;
  /** Every part was searched of the instances that started at this time or later; null: of all. */
  readonly partsFrom: number | null;
  /** The id of the definition that the text names. */
  readonly definitionId: string | null;
}

const RANKS: Readonly<Record<InstanceMatch['relation'], number>> = { equal: 0, start: 1, part: 2 };

export async function findInstances(
  { store }: { readonly store: Store },
  { limit, text }: FindRequest,
  reach: NameReach,
): Promise<InstanceFindings> {
  const values = readings(text);
  const isNarrowed = reach !== 'all';
  const searched = { text, values, limit: isNarrowed ? NARROWED_LIMIT : limit };
  const [byStart, newest, definition] = await Promise.all([
    store.findInstancesByText(searched),
    readNewest(store, reach),
    store.getDefinition(text, 'latest'),
  ]);
  const all = new Map([...newest.items, ...byStart.items].map((each) => [each.id, each]));
  const found = Array.from(all.values())
    .filter(({ definitionId }) => reaches(reach, definitionId))
    .map((summary): FoundInstance => {
      return { instance: listItem(summary), matches: matchesOf(summary, text, values) };
    })
    .filter(({ matches }) => matches.length > 0);
  found.sort(
    (a, b) =>
      rankOf(a) - rankOf(b) ||
      b.instance.startTime - a.instance.startTime ||
      (a.instance.id < b.instance.id ? 1 : -1),
  );
  return {
    items: found.slice(0, limit),
    // Whether more were found says something of instances that the caller may not see.
    exact: byStart.isComplete && found.length <= limit && !isNarrowed,
    partsFrom: newest.from,
    definitionId: definition === null || !reaches(reach, text) ? null : text,
  };
}

/** @returns `from`: the start of the oldest one, if there are more; otherwise null */
async function readNewest(
  store: Store,
  reach: NameReach,
): Promise<{ readonly items: readonly InstanceSummary[]; readonly from: number | null }> {
  const items: InstanceSummary[] = [];
  const filter = definitionsWithin(reach);
  let after: InstancePosition | null = null;
  for (let reads = 0; reads < READS_MAX && items.length < SEARCHED_PARTS_MAX; reads += 1) {
    const part: InstanceList = await store.listInstances({ filter, after, limit: READ_AT_ONCE });
    items.push(...part.items);
    const last = part.items.at(-1);
    const isFull = part.items.length === READ_AT_ONCE && last !== undefined;
    after = isFull ? { time: last.startTime, id: last.id } : part.searchedTo;
    if (after === null) return { items, from: null };
  }
  return { items, from: after?.time ?? null };
}

function rankOf({ matches: [closest] }: FoundInstance): number {
  return closest === undefined ? Infinity : RANKS[closest.relation];
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
  const at = String(value).indexOf(text);
  // A number has no parts: 4711 is not a part of 147110.
  if (at === -1 || typeof value !== 'string') return null;
  return at === 0 ? 'start' : 'part';
}
