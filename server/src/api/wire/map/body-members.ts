/** Body checks that the schemas can't express. */
import { suggestName } from '../../../engine/definitions/suggest-name.js';
import { quoteText } from '../../../engine/values/convert-input.js';
import { AppError } from '../../../base/errors.js';

/** The member names of a body. The compiler requires all of them. */
export function membersOf<Body>(members: Readonly<Record<keyof Body, true>>): readonly string[] {
  return Object.keys(members);
}

/**
 * Without this check, a misspelled member would be ignored silently.
 *
 * @param at JSON pointer to the object in the body
 * @throws AppError `invalid_request`
 */
export function refuseUnknown(value: object, members: readonly string[], at: string): void {
  const unknown = Object.keys(value).find((name) => !members.includes(name));
  if (unknown === undefined) return;
  const hint = suggestName(unknown, members);
  const place = at === '' ? '' : ` of ${at.slice(1).replaceAll('/', '.')}`;
  const message = `Unknown member ${quoteText(unknown)}${place}.${hint} Members: ${members.join(', ')}`;
  throw invalidMember(message, `${at}/${unknown.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

/** @throws AppError `invalid_request` */
export function toReason(reason: string): string {
  if (reason.trim() !== '') return reason;
  throw invalidMember('reason must not be blank', '/reason');
}

/** @param pointer of the member; absent for a parameter. @throws AppError `invalid_request` */
export function toOptionalReason(reason: string | undefined, pointer?: string): string | null {
  if (reason === undefined) return null;
  if (reason.trim() !== '') return reason;
  if (pointer !== undefined) throw invalidMember('reason must not be blank', pointer);
  throw new AppError('invalid_request', 'reason must not be blank', { parameter: 'reason' });
}

export function invalidMember(message: string, pointer: string): AppError {
  const problems = [{ code: 'invalid_member', message, pointer }];
  return new AppError('invalid_request', message, { problems });
}
