/** Tags of runs: text names with text values. Definitions, starts and PATCH share the same limits. */

export type Tags = Readonly<Record<string, string>>;

export const TAGS_MAX = 20;
export const TAG_NAME_LENGTH_MAX = 64;
export const TAG_VALUE_LENGTH_MAX = 256;

/** Not every database can store these characters, and users can't type them into a search. */
const UNSTORABLE_NAME = /[\p{Cc}\p{Cs}]/u;
const UNSTORABLE_VALUE = /[\u0000\p{Cs}]/u;

/** Why a text cannot be the name of a tag, to be appended to the subject; null if it can. */
export function tagNameProblem(name: string): string | null {
  if (name === '') return 'is empty';
  if (isLonger(name, TAG_NAME_LENGTH_MAX)) {
    return `has more than ${TAG_NAME_LENGTH_MAX} characters`;
  }
  return UNSTORABLE_NAME.test(name) ? 'contains control characters or unpaired surrogates' : null;
}

/** Why a value cannot be the value of a tag, to be appended to the subject; null if it can. */
export function tagValueProblem(value: string): string | null {
  if (isLonger(value, TAG_VALUE_LENGTH_MAX)) {
    return `has more than ${TAG_VALUE_LENGTH_MAX} characters`;
  }
  return UNSTORABLE_VALUE.test(value) ? 'contains a null character or unpaired surrogates' : null;
}

/** True if a text has more than `lengthMax` characters (code points). */
export function isLonger(text: string, lengthMax: number): boolean {
  // A character takes at most two code units.
  if (text.length <= lengthMax) return false;
  return text.length > 2 * lengthMax || Array.from(text).length > lengthMax;
}
