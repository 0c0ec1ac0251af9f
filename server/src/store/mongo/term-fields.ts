/** Tags and index fields in the document of an instance, and the terms by which they find it. */
import type { IndexFields } from '../../engine/values/index-fields.js';
import type { Tags } from '../../engine/values/tags.js';
import { indexIn, indexText, tagsIn, tagsText } from '../json-columns.js';
import { ANY_VALUE, fieldTerms, tagTerms, termConditionOf, type Term } from '../index-terms.js';
import type { IndexCondition } from '../records/index-conditions.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { Filter } from 'mongodb';
import type { InstanceDocument } from './documents.js';
import { packText, unpackText } from './packed-text.js';

type TagFields = Pick<InstanceDocument, 'tags' | 'tagTerms'>;
type ValueFields = Pick<InstanceDocument, 'fields' | 'fieldTerms'>;

/** Stands between the name and the value of a term: an escape that occurs in no name. */
const SEPARATOR = '\u0001\u0003';
/** Follows the separator and every value after it, and precedes the next name. */
export const AFTER_SEPARATOR = '\u0001\u0004';

/** The field of the terms of tags, and that of the terms of index fields. */
export type TermField = 'tagTerms' | 'fieldTerms';

/** What sets the tags of an instance; fields without content are absent. */
export function tagFieldsOf(tags: Tags): {
  readonly set: TagFields;
  readonly unset: Readonly<Partial<Record<keyof TagFields, ''>>>;
} {
  const text = tagsText(tags);
  if (text === null) return { set: {}, unset: { tags: '', tagTerms: '' } };
  return { set: { tags: encodeText(text), tagTerms: tagTerms(tags).map(textOf) }, unset: {} };
}

export function valueFieldsOf(index: IndexFields): {
  readonly set: ValueFields;
  readonly unset: Readonly<Partial<Record<keyof ValueFields, ''>>>;
} {
  const text = indexText(index);
  if (text === null) return { set: {}, unset: { fields: '', fieldTerms: '' } };
  return { set: { fields: packText(text), fieldTerms: fieldTerms(index).map(textOf) }, unset: {} };
}

export function tagsOf({ tags }: TagFields): Tags {
  return tagsIn(tags === undefined ? null : decodeText(tags));
}

export function indexOf({ fields }: ValueFields): IndexFields {
  return indexIn(fields === undefined ? null : unpackText(fields));
}

export function filterOf(condition: IndexCondition): Filter<InstanceDocument> {
  const field = condition.of === 'tag' ? 'tagTerms' : 'fieldTerms';
  const terms = termConditionOf(condition);
  const { name } = terms;
  if (terms.kind === 'equal') {
    const texts = terms.values.map((value) => textOf({ name, value }));
    const [text = ''] = texts;
    return { [field]: texts.length === 1 ? text : { $in: texts } };
  }
  const ranges = terms.kind === 'range' ? terms.ranges : [ANY_VALUE];
  // One element must be in the range: without $elemMatch, two elements could each fulfill one side.
  const within = ranges.map(({ from, to }) => ({
    [field]: {
      $elemMatch: { $gte: textOf({ name, value: from }), $lt: textOf({ name, value: to }) },
    },
  }));
  const [first, ...others] = within;
  // Nothing has no terms.
  if (first === undefined) return { [field]: { $in: [] } };
  const some: Filter<InstanceDocument> = others.length === 0 ? first : { $or: within };
  if (terms.kind === 'range') return some;
  const texts = terms.values.map((value) => textOf({ name, value }));
  return { $and: [some, { [field]: { $nin: texts } }] };
}

export function textOf({ name, value }: Term): string {
  return name + SEPARATOR + value;
}

/** The name in the text of a term. */
export function nameIn(text: string): string {
  return text.slice(0, text.indexOf(SEPARATOR));
}
