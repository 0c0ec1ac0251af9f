/** Names that come in paths and queries: text of a bounded length without control characters. */
import { AppError } from '../../errors.js';

const NAME_LENGTH_MAX = 200;
export const EVENT_KEY_LENGTH_MAX = 512;

const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/u;

/** @throws AppError `invalid_request` */
export function checkedName(text: string, what: string, lengthMax = NAME_LENGTH_MAX): string {
  if (text.length > lengthMax) {
    throw new AppError('invalid_request', `The ${what} is longer than ${lengthMax} characters`);
  }
  if (CONTROL_CHARACTER.test(text)) {
    throw new AppError('invalid_request', `The ${what} holds a control character`);
  }
  return text;
}
