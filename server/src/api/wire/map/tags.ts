/** Converts changes of tags from the wire. */
import { tagNameProblem, tagValueProblem } from '../../../engine/values/tags.js';
import { isJsonObject } from '../../../engine/values/json.js';
import { AppError } from '../../../base/errors.js';
import type { TagChanges } from '../../../store/records/control.js';

/** Higher than the limit per instance, because null removes a tag. */
const CHANGES_MAX = 100;
const SHOWN_LENGTH_MAX = 80;

/** @throws AppError `invalid_request` */
export function toTagChanges(body: unknown): TagChanges {
  // The body reader returns only JSON values.
  if (!isJsonObject(body)) {
    throw new AppError('invalid_request', 'Tags must be an object of names with text or null');
  }
  const changes = Object.entries(body);
  if (changes.length > CHANGES_MAX) {
    throw new AppError('invalid_request', `At most ${CHANGES_MAX} tags can be changed at once`);
  }
  return Object.fromEntries(
    changes.map(([name, value]) => {
      const problem = tagNameProblem(name);
      if (problem !== null) {
        throw new AppError('invalid_request', `The name of the tag ${shown(name)} ${problem}`);
      }
      if (value === null) return [name, null];
      if (typeof value !== 'string') {
        throw new AppError('invalid_request', `The tag ${shown(name)} must be text or null`);
      }
      const valueProblem = tagValueProblem(value);
      if (valueProblem === null) return [name, value];
      throw new AppError('invalid_request', `The value of the tag ${shown(name)} ${valueProblem}`);
    }),
  );
}

function shown(name: string): string {
  return JSON.stringify(
    name.length > SHOWN_LENGTH_MAX ? `${name.slice(0, SHOWN_LENGTH_MAX)}…` : name,
  );
}
