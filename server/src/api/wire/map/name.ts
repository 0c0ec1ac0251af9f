/** Names in paths and queries: strings of limited length without control characters. */
import { nameProblem, pathNameProblem } from '../../../engine/values/names.js';
import { AppError } from '../../../base/errors.js';

/**
 * Accepts an empty name: paths cannot contain one, and in a query, the caller of this function decides.
 *
 * @throws AppError `invalid_request`
 */
export function checkedName(text: string, what: string, lengthMax?: number): string {
  const problem = text === '' ? null : nameProblem(text, lengthMax);
  if (problem !== null) throw new AppError('invalid_request', `The ${what} ${problem}`);
  return text;
}

/** Validates the name of a new object, which later calls have in their path. @throws AppError `invalid_request` */
export function checkedPathName(text: string, what: string, lengthMax?: number): string {
  const problem = text === '' ? null : pathNameProblem(text, lengthMax);
  if (problem !== null) throw new AppError('invalid_request', `The ${what} ${problem}`);
  return text;
}
