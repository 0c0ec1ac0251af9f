/**
 * Where a version of a definition comes from, kept in its body.
 *
 *  DO1 It is the first member of the body, so that lists can read it without the rest, which may be long.
 */
import { ORIGIN_LENGTH_MAX } from '../engine/values/names.js';
import { readJson, writeJson } from '../engine/values/exact-json.js';
import type { JsonObject } from '../engine/values/json.js';

/** Contains every origin, even if all of its characters are escaped. */
export const ORIGIN_HEAD_LENGTH = 12 + 6 * ORIGIN_LENGTH_MAX + 2;
const HEAD = /^\{"origin":("(?:[^"\\]|\\.)*")/u;

export function bodyWithOrigin(document: JsonObject, origin: string | null): string {
  return writeJson(origin === null ? document : { origin, ...document });
}

/** @param head the body, or as much of it as ORIGIN_HEAD_LENGTH */
export function originOf(head: string | null): string | null {
  const [, text] = HEAD.exec(head?.slice(0, ORIGIN_HEAD_LENGTH) ?? '') ?? [];
  return text === undefined ? null : (readJson(text) as string); // The pattern ensures that it is a string.
}

/** In SQL. Text that does not begin like an object is encoded, and must not be cut. */
export const ORIGIN_HEAD_COLUMN = `CASE WHEN substr(body, 1, 1) = '{' THEN substr(body, 1, ${ORIGIN_HEAD_LENGTH}) END AS head`;
