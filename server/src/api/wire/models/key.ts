// The wire types of API keys. Not `/**`: tsoa would look for the example of the first type here.
import type { Time } from './time.js';

/**
 * A key to create.
 *
 * @example { "name": "billing-worker", "scopes": ["conductor:worker"], "expires": "2027-05-04T00:00:00Z" }
 */
export interface ApiKeyRequest {
  /**
   * The name of the key's holder, shown as the actor in the audit and in control actions.
   * @minLength 1 must not be empty
   * @maxLength 100 must have at most 100 characters
   */
  name: string;
  /**
   * The permissions of the key: `conductor:admin`, `conductor:author`, `conductor:controller`, `conductor:viewer`,
   * `conductor:worker`. The last three can be narrowed by a prefix: `conductor:viewer:order*` reaches only definitions whose id
   * begins with `order`, `conductor:worker:billing-*` only activities whose name begins with `billing-`.
   * @minItems 1 must name at least one scope
   * @maxItems 100 must have at most 100 scopes
   */
  scopes: string[];
  /**
   * When the key expires: ISO 8601. By default, it is valid until it is removed.
   */
  expires?: Time;
}

/**
 * An API key, without the key itself.
 *
 * @example {
 *   "id": "01hx5v3x9t6k2m4n8p0q",
 *   "name": "billing-worker",
 *   "scopes": ["conductor:worker"],
 *   "createdBy": "ada",
 *   "createdTime": "2026-05-04T10:20:30.123Z",
 *   "expires": "2027-05-04T00:00:00.000Z",
 *   "lastUsedTime": null
 * }
 */
export interface ApiKey {
  id: string;
  name: string;
  scopes: string[];
  /**
   * The subject (`sub`) of the creator's token; `anonymous` if there was none.
   */
  createdBy: string;
  /**
   * ISO 8601, UTC.
   */
  createdTime: Time;
  /**
   * ISO 8601, UTC; null if it doesn't expire.
   */
  expires: Time | null;
  /**
   * ISO 8601, UTC, accurate to about a minute; null if it was never used.
   */
  lastUsedTime: Time | null;
}

/**
 * A newly created key.
 *
 * @example {
 *   "id": "01hx5v3x9t6k2m4n8p0q",
 *   "name": "billing-worker",
 *   "scopes": ["conductor:worker"],
 *   "createdBy": "ada",
 *   "createdTime": "2026-05-04T10:20:30.123Z",
 *   "expires": null,
 *   "lastUsedTime": null,
 *   "key": "sw_01hx5v3x9t6k2m4n8p0q_dGhpcyBpcyBub3QgYSByZWFsIGtleSBvZiBhbnlib2R5"
 * }
 */
export interface CreatedApiKey extends ApiKey {
  /**
   * The bearer token. It isn't stored and can't be shown again.
   */
  key: string;
}

/**
 * All keys, in order of creation.
 */
export interface ApiKeyPage {
  items: ApiKey[];
  /**
   * Always null: there is one page.
   */
  nextCursor: string | null;
}
