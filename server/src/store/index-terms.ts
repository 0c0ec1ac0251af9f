/**
 * Terms: names and values of tags and index fields as text that sorts like the values, so that an index of a database finds
 * equal values, ranges and beginnings.
 *
 * The name of a term tells a tag (`t`) from a field (`f`); term-values.ts describes the values.
 */
import type { Tags } from '../engine/values/tags.js';
import { elementsOf, type IndexFields, type IndexValue } from '../engine/values/index-fields.js';
import type { IndexCondition } from './records/index-conditions.js';
import { storableText, termValue } from './term-values.js';
import { compareText } from './text-order.js';

export interface Term {
  readonly name: string;
  readonly value: string;
}

/** The terms of an instance that belong to its tags. */
export function tagTerms(tags: Tags): readonly Term[] {
  return Object.entries(tags).map(([name, value]) => ({
    name: termName('tag', name),
    value: termValue(value),
  }));
}

/** The terms of an instance that belong to its index fields, each once. */
export function fieldTerms(index: IndexFields): readonly Term[] {
  return Object.entries(index).flatMap(([field, value]) => {
    const name = termName('field', field);
    const values = new Set(elementsOf(value).map(termValue));
    return Array.from(values, (each) => ({ name, value: each }));
  });
}

/** All terms of an instance. */
export function termsOf(instance: {
  readonly tags: Tags;
  readonly index: IndexFields;
}): readonly Term[] {
  return [...tagTerms(instance.tags), ...fieldTerms(instance.index)];
}

/** What must be removed and added to turn the first terms into the second. */
export function termChanges(
  before: readonly Term[],
  after: readonly Term[],
): { readonly removed: readonly Term[]; readonly added: readonly Term[] } {
  const keyOf = ({ name, value }: Term): string => `${name.length}:${name}${value}`;
  const old = new Set(before.map(keyOf));
  const next = new Set(after.map(keyOf));
  return {
    removed: before.filter((term) => !next.has(keyOf(term))),
    added: after.filter((term) => !old.has(keyOf(term))),
  };
}

/** Values from `from` (inclusive) to `to` (exclusive). */
export interface TermRange {
  readonly from: string;
  readonly to: string;
}

/** A condition in terms: the instances that have a term of the name with such a value. */
export type TermCondition =
  | { readonly kind: 'equal'; readonly name: string; readonly values: readonly string[] }
  | { readonly kind: 'range'; readonly name: string; readonly ranges: readonly TermRange[] }
  /** A term of the name, but none of these. */
  | { readonly kind: 'unequal'; readonly name: string; readonly values: readonly string[] };

export function termConditionOf(condition: IndexCondition): TermCondition {
  const { of, operator, values } = condition;
  const name = termName(of, condition.name);
  if (operator === '=') return { kind: 'equal', name, values: values.map(termValue) };
  if (operator === '!=') return { kind: 'unequal', name, values: values.map(termValue) };
  const ranges = values.map((value) => termRange(operator, value));
  return {
    kind: 'range',
    name,
    ranges: ranges.filter(({ from, to }) => compareText(from, to) < 0),
  };
}

/** All values that a term can have. */
export const ANY_VALUE: TermRange = { from: 'b', to: 't' };

/** The values of terms that stand in this relation to a value. */
export function termRange(operator: '<' | '<=' | '>' | '>=' | '^=', value: IndexValue): TermRange {
  const term = termValue(value);
  if (operator === '^=') {
    // The letter of the type has a successor.
    return { from: term, to: afterPrefix(term) ?? ANY_VALUE.to };
  }
  // No value sorts between a term and the same with the lowest character appended.
  const next = `${term}\u0001`;
  // Booleans have no order: only the equal one counts.
  if (typeof value === 'boolean') {
    const isEqual = operator === '<=' || operator === '>=';
    return { from: term, to: isEqual ? next : term };
  }
  const [first, end] = typeof value === 'string' ? ['s', 't'] : ['n', 'o'];
  switch (operator) {
    case '<':
      return { from: first, to: term };
    case '<=':
      return { from: first, to: next };
    case '>':
      return { from: next, to: end };
    case '>=':
      return { from: term, to: end };
  }
}

export function termName(of: 'tag' | 'field', name: string): string {
  return (of === 'tag' ? 't' : 'f') + storableText(name);
}

/** The first text in the order of code points that follows all that start with this one; null: there is none. */
export function afterPrefix(prefix: string): string | null {
  const characters = Array.from(prefix);
  for (;;) {
    const code = characters.pop()?.codePointAt(0);
    if (code === undefined) return null;
    if (code === 0x10ffff) continue;
    const next = code === 0xd7ff ? 0xe000 : code + 1;
    return characters.join('') + String.fromCodePoint(next);
  }
}

/** @param prefixes without lone surrogates and U+0000 */
export function prefixRanges(prefixes: readonly string[]): readonly TermRange[] {
  return prefixes.map((prefix) => ({
    from: prefix,
    // Nothing but the highest character has no successor.
    to: afterPrefix(prefix) ?? `${prefix}\u{10ffff}`,
  }));
}
