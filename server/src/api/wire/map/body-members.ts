/** Checks of bodies that their schemas cannot make. */
import { suggestName } from '../../../engine/definitions/suggest-name.js';
import { quoteText } from '../../../engine/values/convert-input.js';
import { AppError } from '../../../base/errors.js';

/** The names of the members of a body. The compiler asks for every member. */
export function membersOf<Body>(members: Readonly<Record<keyof Body, true>>): readonly string[] {
  return Object.keys(members);
}

/**
 * A misspelled member would silently leave out a part of what was meant.
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

/** @param pointer of the member; absent: it is a parameter. @throws AppError `invalid_request` */
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
