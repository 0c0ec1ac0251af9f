/** Converts priorities from the wire. */
import { PRIORITIES, type Priority } from '../../../engine/model/start-options.js';
import { AppError } from '../../../base/errors.js';

/** @throws AppError `invalid_request` */
export function toPriority(value: number): Priority {
  const priority = PRIORITIES.find((each) => each === value);
  if (priority !== undefined) return priority;
  const message = `priority must be a whole number from 1 to ${PRIORITIES.length}`;
  throw new AppError('invalid_request', message, { parameter: 'priority' });
}
