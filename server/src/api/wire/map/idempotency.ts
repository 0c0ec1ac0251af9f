/** The Idempotency-Key header and the hash that tells whether a request is the same one again. */
import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { writeJson } from '../../../engine/values/exact-json.js';
import { isJsonObject, type Json } from '../../../engine/values/json.js';
import { AppError } from '../../../base/errors.js';
import type { IdempotencyKey } from '../../../runtime/operations/idempotency-key.js';
import { contextOf } from '../../http/request-context.js';

const KEY = /^[\u0020-\u007e]{1,255}$/;

/**
 * Null: the request has no key. A key belongs to whoever sent it: with another subject in the token it is another key, so
 * that nobody gets at the answers of others by guessing.
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
  // The names as they were understood: casing and encoding of the path do not make another request. Zero bytes are in none
  // of the parts, so that no two requests run together.
  hash.update(`${request.method}\0${JSON.stringify(request.params)}\0${sortedQuery(request)}\0`);
  hash.update(canonicalJson(body));
  const token = await contextOf(request).verifiedToken;
  const owned = token === null ? key : `${token.subject ?? ''}\0${key}`;
  return { key: owned, requestHash: hash.digest('hex') };
}

function sortedQuery(request: Request): string {
  const query = new URLSearchParams(request.originalUrl.split('?')[1] ?? '');
  query.sort();
  return query.toString();
}

/** JSON whose members are sorted: the same value gives the same text, whether it came as JSON or YAML. */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return writeJson(value);
  const members = Object.keys(value)
    .sort()
    // The key comes from Object.keys, so the member is there.
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name] as Json)}`);
  return `{${members.join(',')}}`;
}
