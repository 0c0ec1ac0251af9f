/** Finding instances by a text: see records/text-search.ts. */
import { termsOf, type Term } from '../index-terms.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { SEARCHED_NAMES_MAX } from '../records/text-search.js';
import type { InstanceRecord } from '../records/instances.js';
import { compareText } from '../text-order.js';
import {
  bestEntries,
  findingsOf,
  NAME_RANGES,
  soughtText,
  type SoughtText,
  type TextEntry,
} from '../text-search.js';
import { summaryOf } from './instance-lists.js';
import type { MemoryData } from './memory-data.js';

export function findInstancesByText(
  data: MemoryData,
  [search]: OperationArguments<'findInstancesByText'>,
): OperationResult<'findInstancesByText'> {
  const instances = [...data.instances.values()];
  const names = new Set(instances.flatMap((each) => termsOf(each).map(({ name }) => name)));
  const searched = NAME_RANGES.flatMap(({ from, to }) =>
    [...names]
      .filter((name) => name >= from && name < to)
      .sort(compareText)
      .slice(0, SEARCHED_NAMES_MAX),
  );
  const sought = soughtText(search);
  const entries = instances.flatMap((each) =>
    entryOf(each, new Set(searched), search.text, sought),
  );
  const best = bestEntries(entries, search.limit);
  const found = best.ids.flatMap((id) => data.instances.get(id) ?? []).map(summaryOf);
  return findingsOf(best, found, searched.length === names.size);
}

function entryOf(
  instance: InstanceRecord,
  names: ReadonlySet<string>,
  text: string,
  { equalTerms, termsFrom: { from, to } }: SoughtText,
): readonly TextEntry[] {
  const { id, reference, startTime } = instance;
  const terms = termsOf(instance).filter(({ name }) => names.has(name));
  const equals = ({ value }: Term): boolean => equalTerms.includes(value);
  const begins = ({ value }: Term): boolean =>
    compareText(value, from) >= 0 && compareText(value, to) < 0;
  const isEqual = id === text || reference === text || terms.some(equals);
  const isFound =
    isEqual || id.startsWith(text) || (reference?.startsWith(text) ?? false) || terms.some(begins);
  return isFound ? [{ id, time: startTime, isEqual }] : [];
}
