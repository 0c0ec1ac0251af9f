/**
 * How the stores find instances by a text with bounded work.
 *
 * The indexes find text by its beginning, within the values of one name. So a search reads, from each index, a few entries
 * that equal the text and a few that begin with it: by id, by reference, and by the values of each tag and index field. It
 * steps from one name to the next, over all the values between them.
 */
import { writeJson } from '../engine/values/exact-json.js';
import { elementsOf, type IndexValue } from '../engine/values/index-fields.js';
import { afterPrefix, termRange, type TermRange } from './index-terms.js';
import type { InstanceSummary } from './records/instances.js';
import type { TextFindings, TextSearch } from './records/text-search.js';
import { termValue } from './term-values.js';
import { compareText } from './text-order.js';

export interface TextEntry {
  readonly id: string;
  readonly time: number;
  /** Whether something equals the text, instead of only beginning with it. */
  readonly isEqual: boolean;
}

/** The names of terms, from `from` (inclusive) to `to` (exclusive). */
export const NAME_RANGES: readonly TermRange[] = [
  { from: 'f', to: 'g' },
  { from: 't', to: 'u' },
];

/** What a search looks for in the indexes. */
export interface SoughtText {
  /** Values of terms that equal the text. */
  readonly equalTerms: readonly string[];
  /** Values of terms that begin with the text, and the one that equals it. */
  readonly termsFrom: TermRange;
  /** Ids and references that begin with the text, and the one that equals it. */
  readonly textsFrom: TermRange;
  /** How many entries each index is read for: one more than are shown, to know whether there are more. */
  readonly entriesMax: number;
}

export function soughtText({ limit, text, values }: TextSearch): SoughtText {
  return {
    equalTerms: [...new Set([...values.map(termValue), termValue(text)])],
    termsFrom: termRange('^=', text),
    // Nothing but the highest character has no successor.
    textsFrom: { from: text, to: afterPrefix(text) ?? `${text}\u{10ffff}` },
    entriesMax: limit + 1,
  };
}

/**
 * The text as a part of stored JSON, such as tags and index fields. It is in each of them that has the text in a value, and in
 * some that have it elsewhere.
 */
export function partOfJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** All stored text that is encoded, in which a part is not found (text-codec.ts), sorts before this. */
export const AFTER_ENCODED = '\u0002';

/** Whether the text is in the id, the reference, a tag or an index field, in which a number counts as its digits. */
export function containsText(
  { id, index, reference, tags }: Pick<InstanceSummary, 'id' | 'reference' | 'tags' | 'index'>,
  text: string,
): boolean {
  const isIn = (value: IndexValue): boolean => writtenValue(value)?.includes(text) ?? false;
  return (
    id.includes(text) ||
    (reference?.includes(text) ?? false) ||
    Object.values(tags).some(isIn) ||
    Object.values(index).some((value) => elementsOf(value).some(isIn))
  );
}

/** A value as people read it, in which a part is sought; null for a boolean, which has none. */
export function writtenValue(value: IndexValue): string | null {
  if (typeof value === 'boolean') return null;
  return typeof value === 'string' ? value : writeJson(value);
}

/** The entries to show, each instance once, in the order of the findings. */
export function bestEntries(
  entries: Iterable<TextEntry>,
  limit: number,
): { readonly ids: readonly string[]; readonly hasMore: boolean } {
  const best = new Map<string, TextEntry>();
  for (const entry of entries) {
    if (entry.isEqual || !best.has(entry.id)) best.set(entry.id, entry);
  }
  const ordered = [...best.values()].sort(
    (a, b) => Number(b.isEqual) - Number(a.isEqual) || b.time - a.time || compareText(b.id, a.id),
  );
  return { ids: ordered.slice(0, limit).map(({ id }) => id), hasMore: ordered.length > limit };
}

/** The instances in the order of their ids; those that have been removed meanwhile are left out. */
export function findingsOf(
  { hasMore, ids }: { readonly ids: readonly string[]; readonly hasMore: boolean },
  found: TextFindings['items'],
  hasAllNames: boolean,
): TextFindings {
  const byId = new Map(found.map((instance) => [instance.id, instance]));
  const items = ids.flatMap((id) => byId.get(id) ?? []);
  return { items, isComplete: hasAllNames && !hasMore };
}
