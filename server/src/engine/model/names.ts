/**
 * Validates names and keys: of activities, events, definitions, and references of runs. Every door uses these functions: calls,
 * inputs of steps, and the expressions of webhooks and triggers. What one of them accepts, a call can carry in its path, and every
 * store can store.
 */

const NAME_LENGTH_MAX = 200;
export const ORIGIN_LENGTH_MAX = 200;
export const EVENT_KEY_LENGTH_MAX = 512;

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

/** A reference may be empty, unlike a name: nobody has to find it in a path. */
export function referenceProblem(text: string): string | null {
  return text === '' ? null : nameProblem(text);
}

/** As `nameProblem`, for a name that a call has in its path: every client removes a segment that is `.` or `..`. */
export function pathNameProblem(text: string, lengthMax?: number): string | null {
  if (text === '.' || text === '..') return `is ${text}, which no client can put into a URL`;
  return nameProblem(text, lengthMax);
}
