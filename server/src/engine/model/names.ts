/** Validates names and keys that appear in the paths of calls: of activities, events, definitions. */

const NAME_LENGTH_MAX = 200;
export const ORIGIN_LENGTH_MAX = 200;
export const EVENT_KEY_LENGTH_MAX = 512;

const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/u;

/** Why a text is not a valid name, to be appended to the subject; null if it is valid. */
export function nameProblem(text: string, lengthMax = NAME_LENGTH_MAX): string | null {
  if (text === '') return 'is empty';
  if (text.length > lengthMax) return `is longer than ${lengthMax} characters`;
  return CONTROL_CHARACTER.test(text) ? 'contains a control character' : null;
}

/** As `nameProblem`, for a name that a call has in its path: every client removes a segment that is `.` or `..`. */
export function pathNameProblem(text: string, lengthMax?: number): string | null {
  if (text === '.' || text === '..') return `is ${text}, which no client can put into a URL`;
  return nameProblem(text, lengthMax);
}
