/** The tags of a start, merged with its definition's tags. */
import { describeValue } from '../values/convert-input.js';
import { TAGS_MAX, tagNameProblem, tagValueProblem, type Tags } from '../values/tags.js';

/** @returns the problem, as the beginning of a sentence; or null */
export function readTags(entries: readonly (readonly [name: string, value: unknown])[]): {
  readonly tags: Tags;
  readonly problem: string | null;
} {
  const tags = new Map<string, string>();
  for (const [name, value] of entries) {
    const problem = tags.has(name) ? 'is given twice' : tagNameProblem(name);
    if (problem !== null) return { tags: {}, problem: `the name of a tag ${problem}` };
    if (typeof value !== 'string') {
      const message = `the tag ${shown(name)} must be text, not ${describeValue(value)}`;
      return { tags: {}, problem: message };
    }
    const valueProblem = tagValueProblem(value);
    if (valueProblem !== null) {
      return { tags: {}, problem: `the value of the tag ${shown(name)} ${valueProblem}` };
    }
    tags.set(name, value);
  }
  return { tags: Object.fromEntries(tags), problem: countProblem(tags.size) };
}

/** A definition's tags, overridden by a start's tags. */
export function mergeTags(
  ofDefinition: Tags,
  ofStart: Tags,
): { readonly tags: Tags; readonly problem: string | null } {
  const tags = { ...ofDefinition, ...ofStart };
  return { tags, problem: countProblem(Object.keys(tags).length) };
}

function countProblem(count: number): string | null {
  return count > TAGS_MAX ? `a run cannot have ${count} tags; the maximum is ${TAGS_MAX}` : null;
}

function shown(name: string): string {
  return JSON.stringify(name);
}
