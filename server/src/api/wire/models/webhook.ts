/** The wire types of webhooks that others call. */
import type { JsonValue } from './json-value.js';
import type { Time } from './time.js';

/** How the sender signs its calls. */
export type WebhookSchemeName = 'standard' | 'github' | 'stripe' | 'slack' | 'hmac';

/** Publishes an event for each call. Its members are expressions over `hook.body`, `hook.headers` and `hook.query`. */
export interface WebhookPublish {
  name: string;
  key: string;
  /**
   * An expression, or an object whose members that begin with `@` are expressions. Default: `hook.body`.
   */
  data?: JsonValue;
}

/** Starts a run for each call. */
export interface WebhookStart {
  /**
   * Plain text, not an expression.
   * @minLength 1 must not be empty
   */
  definitionId: string;
  /**
   * An expression, or an object whose members that begin with `@` are expressions. Default: `hook.body`.
   */
  data?: JsonValue;
  /**
   * An expression. Default: what the `Reference` of the definition makes of the data.
   */
  reference?: string;
  /**
   * What happens if another run of the definition has the reference: `allow`, `fail` (409), `existing` or `terminate`, in any
   * casing. Plain text, not an expression. Default: the `OnConflict` of the definition, else `allow`.
   */
  onConflict?: string;
  /**
   * Which other runs count: `open` ones, or all that are `kept`, in any casing. Plain text. Default: the `ConflictScope` of the
   * definition, else `open`.
   */
  conflictScope?: string;
}

/** What `hmac` needs to know of the sender. */
interface HmacMembers {
  /**
   * Of `hmac`, required: the name of the header with the signature.
   */
  header?: string;
  /**
   * Of `hmac`. Default: sha256.
   */
  algorithm?: 'sha256' | 'sha384' | 'sha512';
  /**
   * Of `hmac`. Default: hex.
   */
  encoding?: 'hex' | 'base64';
  /**
   * Of `hmac`: what stands before the signature in its header, such as `sha256=`. Default: nothing.
   */
  prefix?: string;
  /**
   * Of `hmac`: the name of the header with the id of the delivery. Without it, repeated deliveries are not recognized.
   */
  idHeader?: string;
}

/**
 * What calls of a webhook do, and how their signature is verified. Exactly one of `publish` and `start` is required.
 *
 * @example {
 *   "scheme": "github",
 *   "secret": "a long random text",
 *   "publish": { "name": "'push'", "key": "hook.body['repository']['full_name']" }
 * }
 */
export interface WebhookRequest extends HmacMembers {
  scheme: WebhookSchemeName;
  /**
   * The secret that the sender signs with. Required for a new webhook; without it, the one that the webhook has stays. It
   * is never shown. `standard`: `whsec_` and at least 16 random bytes in Base64; other schemes: at least 16 characters.
   * @minLength 16 must have at least 16 characters
   * @maxLength 1000 must have at most 1000 characters
   */
  secret?: string;
  publish?: WebhookPublish;
  start?: WebhookStart;
}

/**
 * A webhook. Its secret is not shown.
 *
 * @example {
 *   "name": "github",
 *   "path": "/hooks/github",
 *   "scheme": "github",
 *   "publish": { "name": "'push'", "key": "hook.body['repository']['full_name']" },
 *   "changedBy": "ada",
 *   "changedTime": "2026-05-04T10:20:30.123Z"
 * }
 */
export interface Webhook extends HmacMembers {
  name: string;
  /**
   * Where the sender calls it, on any node.
   */
  path: string;
  scheme: WebhookSchemeName;
  publish?: WebhookPublish;
  start?: WebhookStart;
  /**
   * The subject (`sub`) of the token of the caller who set it up; `anonymous` if there was none.
   */
  changedBy: string;
  /**
   * ISO 8601, UTC.
   */
  changedTime: Time;
}

/**
 * All webhooks, in the order of their names.
 */
export interface WebhookPage {
  items: Webhook[];
  /**
   * Always null: there is one page.
   */
  nextCursor: string | null;
}

/**
 * The answer to the call with which Slack checks an address (`url_verification`).
 *
 * @example { "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" }
 */
export interface WebhookChallenge {
  /**
   * The one of the call.
   */
  challenge: string;
}

/**
 * A call that was accepted.
 *
 * @example { "id": "01j8zq3v7m9k4n2p5r6s8t0w1x" }
 */
export interface ReceivedDelivery {
  /**
   * Of the event that was published, or of the run that was started or, with `onConflict: existing`, joined. A repeated delivery has
   * the same.
   */
  id: string;
}
