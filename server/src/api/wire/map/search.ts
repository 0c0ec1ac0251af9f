/** The text of a search in inputs, outputs and errors. */
import { AppError } from '../../../base/errors.js';

const SEARCH_LENGTH_MAX = 200;

/** @throws AppError `invalid_request` */
export function checkedSearch(text: string): string {
  const problem =
    text === ''
      ? 'is empty: give the text to search for, or leave out the parameter'
      : `has ${text.length} characters: at most ${SEARCH_LENGTH_MAX} are allowed`;
  if (text !== '' && text.length <= SEARCH_LENGTH_MAX) return text;
  throw new AppError('invalid_request', `search ${problem}`, { parameter: 'search' });
}
