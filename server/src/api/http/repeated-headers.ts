/**
 * Header fields that must not be repeated, because chained servers could each use a different value: the host (RFC 9112, 3.2),
 * credentials and content type. Node uses the first and drops the others. (Node's parser checks the message framing.)
 */
import type { RequestHandler } from 'express';
import { AppError } from '../../base/errors.js';

/** True if even repeating the same value is forbidden. */
const SINGLE: ReadonlyMap<string, boolean> = new Map([
  ['host', true],
  ['authorization', false],
  ['content-type', false],
]);

/** @throws AppError `invalid_request` */
export const refuseRepeatedHeaders: RequestHandler = (request, _response, next) => {
  // Alternating names and values.
  const { rawHeaders } = request;
  const seen = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [rawName = '', value = ''] = rawHeaders.slice(at, at + 2);
    const name = rawName.toLowerCase();
    const mayNotRepeat = SINGLE.get(name);
    if (mayNotRepeat === undefined) continue;
    const before = seen.get(name);
    if (before !== undefined && (mayNotRepeat || before !== value)) {
      throw new AppError('invalid_request', `The header field ${name} is given more than once`, {
        parameter: name,
      });
    }
    seen.set(name, value);
  }
  next();
};
