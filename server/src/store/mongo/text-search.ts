/** Finding instances by a text: see text-search.ts of the stores. */
import type { Filter, Sort } from 'mongodb';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type { TermRange } from '../index-terms.js';
import { SEARCHED_NAMES_MAX } from '../records/text-search.js';
import { compareText } from '../text-order.js';
import { decodeText, encodeText } from '../text-codec.js';
import {
  bestEntries,
  findingsOf,
  soughtText,
  type SoughtText,
  type TextEntry,
} from '../text-search.js';
import type { InstanceDocument } from './documents.js';
import { summaryOf } from './instance-documents.js';
import { WITHOUT_LONG_FIELDS } from './instance-lists.js';
import type { MongoContext } from './mongo-context.js';
import { AFTER_SEPARATOR, nameIn, textOf, type TermField } from './term-fields.js';

const TERM_FIELDS: readonly TermField[] = ['tagTerms', 'fieldTerms'];

export async function findInstancesByText(
  context: MongoContext,
  [search]: OperationArguments<'findInstancesByText'>,
): Promise<OperationResult<'findInstancesByText'>> {
  const sought = soughtText(search);
  const [byColumns, ...byTerms] = await Promise.all([
    columnEntries(context, search.text, sought),
    ...TERM_FIELDS.map((field) => termEntries(context, field, sought)),
  ]);
  const entries = [...byColumns, ...byTerms.flatMap((each) => each.entries)];
  const best = bestEntries(entries, search.limit);
  const documents = await context.instances
    .find({ _id: { $in: best.ids.map(encodeText) } }, { projection: WITHOUT_LONG_FIELDS })
    .toArray();
  return findingsOf(
    best,
    documents.map((document) => summaryOf(document)),
    byTerms.every(({ hasAllNames }) => hasAllNames),
  );
}

interface EntryQuery {
  readonly filter: Filter<InstanceDocument>;
  readonly isEqual: boolean;
  readonly sort?: Sort;
}

const NEWEST_FIRST: Sort = { startTime: -1, _id: -1 };

async function columnEntries(
  context: MongoContext,
  text: string,
  { entriesMax, textsFrom }: SoughtText,
): Promise<readonly TextEntry[]> {
  const equal = encodeText(text);
  const begins = { $gt: textsFrom.from, $lt: textsFrom.to };
  const queries: readonly EntryQuery[] = [
    { filter: { _id: equal }, isEqual: true },
    { filter: { _id: begins }, isEqual: false, sort: { _id: -1 } },
    { filter: { reference: equal }, isEqual: true, sort: NEWEST_FIRST },
    { filter: { reference: begins }, isEqual: false },
  ];
  const found = await Promise.all(queries.map((query) => readEntries(context, query, entriesMax)));
  return found.flat();
}

async function termEntries(
  context: MongoContext,
  field: TermField,
  { entriesMax, equalTerms, termsFrom }: SoughtText,
): Promise<{ readonly entries: readonly TextEntry[]; readonly hasAllNames: boolean }> {
  const names = await termNames(context, field);
  const hasAllNames = names.length <= SEARCHED_NAMES_MAX;
  const searched = names.slice(0, SEARCHED_NAMES_MAX);
  if (searched.length === 0) return { entries: [], hasAllNames };
  const queries = searched.flatMap((name): readonly EntryQuery[] => {
    const at = (value: string): string => textOf({ name, value });
    const begins = { $elemMatch: { $gt: at(termsFrom.from), $lt: at(termsFrom.to) } };
    return [
      ...equalTerms.map((value) => ({
        filter: { [field]: at(value) },
        isEqual: true,
        sort: NEWEST_FIRST,
      })),
      { filter: { [field]: begins }, isEqual: false },
    ];
  });
  const found = await Promise.all(queries.map((query) => readEntries(context, query, entriesMax)));
  return { entries: found.flat(), hasAllNames };
}

async function readEntries(
  { instances }: MongoContext,
  { filter, isEqual, sort }: EntryQuery,
  max: number,
): Promise<readonly TextEntry[]> {
  const documents = await instances
    .find(filter, { projection: { startTime: 1 }, ...(sort !== undefined && { sort }) })
    .limit(max)
    .toArray();
  return documents.map(({ _id, startTime }) => ({
    id: decodeText(_id),
    time: startTime,
    isEqual,
  }));
}

/**
 * More than a search looks at, if there are more. Looks into the gaps between the known names, where any instance tells all
 * names that it has, until the gaps are empty: each look reads one entry of the index, however many values a name has.
 */
async function termNames(
  { instances }: MongoContext,
  field: TermField,
): Promise<readonly string[]> {
  const names = new Set<string>();
  let gaps: readonly TermRange[] = [{ from: '', to: AFTER_NAMES }];
  while (gaps.length > 0 && names.size <= SEARCHED_NAMES_MAX) {
    const found = await Promise.all(
      gaps.map(async ({ from, to }) => {
        const within = { $elemMatch: { $gt: from, $lt: to } };
        return instances.findOne({ [field]: within }, { projection: { [field]: 1 } });
      }),
    );
    for (const term of found.flatMap((document) => document?.[field] ?? []))
      names.add(nameIn(term));
    gaps = gaps.flatMap((gap, at) => (found[at] == null ? [] : gapsWithin(gap, names)));
  }
  return [...names].sort(compareText);
}

/** Follows the names of all terms, which begin with a letter. */
const AFTER_NAMES = 'z';

/** What is left of a gap between the terms of the names. */
function gapsWithin({ from, to }: TermRange, names: ReadonlySet<string>): readonly TermRange[] {
  const inside = [...names]
    .filter((name) => compareText(name, from) >= 0 && compareText(name, to) < 0)
    .sort(compareText);
  return [...inside, null].map((name, at) => {
    const before = inside[at - 1];
    return {
      from: before === undefined ? from : before + AFTER_SEPARATOR,
      to: name === null ? to : textOf({ name, value: '' }),
    };
  });
}
