/**
 * Validates names and keys: of activities and events, of definitions, and references of runs. Calls, step inputs, and the
 * expressions of webhooks and triggers all use these functions. Any accepted name can be part of a URL path, and every store
 * can store it.
 */

const NAME_LENGTH_MAX = 200;
export const ORIGIN_LENGTH_MAX = 200;
export const EVENT_KEY_LENGTH_MAX = 512;
export const LIMIT_KEY_LENGTH_MAX = 256;

const CONTROL_CHARACTER = /\p{Cc}/u;
/** Half of a pair: no URL can contain it. */
const LONE_SURROGATE = /\p{Cs}/u;

/** Why a text is not a valid name, to be appended to the subject; null if it is valid. */
export function nameProblem(text: string, lengthMax = NAME_LENGTH_MAX): string | null {
  if (text === '') return 'is empty';
  if (text.length > lengthMax) return `is longer than ${lengthMax} characters`;
  if (CONTROL_CHARACTER.test(text)) return 'contains a control character';
  return LONE_SURROGATE.test(text) ? 'contains an unpaired surrogate' : null;
}

/** Unlike a name, a reference may be empty: it is never part of a path. */
export function referenceProblem(text: string): string | null {
  return text === '' ? null : nameProblem(text);
}

/** Like `nameProblem`, for a name in a URL path: HTTP clients remove the segments `.` and `..`. */
export function pathNameProblem(text: string, lengthMax?: number): string | null {
  if (text === '.' || text === '..') return `is ${text}, which no client can put into a URL`;
  return nameProblem(text, lengthMax);
}
