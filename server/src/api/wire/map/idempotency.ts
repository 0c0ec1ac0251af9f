/** The Idempotency-Key header, and the hash by which a repeated request is recognized. */
import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { writeJson } from '../../../engine/values/exact-json.js';
import { isJsonObject, type Json } from '../../../engine/values/json.js';
import { AppError } from '../../../base/errors.js';
import type { IdempotencyKey } from '../../../runtime/model/idempotency-key.js';
import { contextOf } from '../../http/request-context.js';

const KEY = /^[\u0020-\u007e]{1,255}$/;

/**
 * Null if the request has no key. Keys belong to their caller: the same key with another token subject is a different key. So
 * callers can't get other callers' responses by guessing keys.
 *
 * @throws AppError `invalid_request`
 */
export async function toIdempotencyKey(
  request: Request,
  key: string | undefined,
  body: Json,
): Promise<IdempotencyKey | null> {
  if (key === undefined) return null;
  if (!KEY.test(key)) {
    throw new AppError('invalid_request', 'Idempotency-Key must be 1 to 255 printable characters', {
      parameter: 'Idempotency-Key',
    });
  }
  const hash = createHash('sha256');
  // The decoded parameters: requests that differ only in the encoding of the path or in the casing of names are the
  // same. No part contains zero bytes, so different requests never have the same text.
  hash.update(`${request.method}\0${JSON.stringify(request.params)}\0${sortedQuery(request)}\0`);
  hash.update(canonicalJson(body));
  const token = await contextOf(request).verifiedToken;
  const owned = token === null ? key : `${token.subject ?? ''}\0${key}`;
  return { key: owned, requestHash: hash.digest('hex') };
}

function sortedQuery(request: Request): string {
  const query = new URLSearchParams(request.originalUrl.split('?')[1] ?? '');
  // The wait time has no effect on the started run.
  for (const name of [...query.keys()]) if (name.toLowerCase() === 'wait') query.delete(name);
  query.sort();
  return query.toString();
}

/** JSON with sorted members: equal values have equal texts, whether they were sent as JSON or YAML. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return writeJson(value);
  const members = Object.keys(value)
    .sort()
    // The key comes from Object.keys, so the member is there.
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] as Json)}`);
  return `{${members.join(',')}}`;
}
