/** Names that come in paths and queries: text of a bounded length without control characters. */
import { nameProblem } from '../../../engine/model/names.js';
import { AppError } from '../../../base/errors.js';

/** Nothing at all is for the caller to judge: a path cannot hold it, and a query may. @throws AppError `invalid_request` */
export function checkedName(text: string, what: string, lengthMax?: number): string {
  const problem = text === '' ? null : nameProblem(text, lengthMax);
  if (problem !== null) throw new AppError('invalid_request', `The ${what} ${problem}`);
  return text;
}
