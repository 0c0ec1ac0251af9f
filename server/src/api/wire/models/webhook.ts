/** The wire types of incoming webhooks. */
import type { JsonValue } from './json-value.js';
import type { Time } from './time.js';

/** How the sender signs its calls. */
export type WebhookSchemeName = 'standard' | 'github' | 'stripe' | 'slack' | 'hmac';

/** Publishes an event for each call. Its members are expressions over `hook.body`, `hook.headers` and `hook.query`. */
export interface WebhookPublish {
  name: string;
  key: string;
  /**
   * An expression, or an object in which members that begin with `@` are expressions. Default: `hook.body`.
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
   * An expression, or an object in which members that begin with `@` are expressions. Default: `hook.body`.
   */
  data?: JsonValue;
  /**
   * An expression. Default: the value of the definition's `Reference`.
   */
  reference?: string;
  /**
   * What happens if another run of the definition has the same reference: `allow`, `fail` (409), `existing`, `terminate` or
   * `queue`, in any casing. Plain text, not an expression. Default: the definition's `OnConflict`, or `allow`.
   */
  onConflict?: string;
  /**
   * Which other runs count: `open` ones, or all `kept` ones, in any casing. Plain text. Default: the definition's
   * `ConflictScope`, or `open`.
   */
  conflictScope?: string;
}

/** Sender details for the scheme `hmac`. */
interface HmacMembers {
  /**
   * For `hmac`, required: the name of the signature header.
   */
  header?: string;
  /**
   * For `hmac`. Default: sha256.
   */
  algorithm?: 'sha256' | 'sha384' | 'sha512';
  /**
   * For `hmac`. Default: hex.
   */
  encoding?: 'hex' | 'base64';
  /**
   * For `hmac`: the prefix of the signature in its header, such as `sha256=`. Default: none.
   */
  prefix?: string;
  /**
   * For `hmac`: the name of the header with the delivery id. Without it, repeated deliveries aren't recognized.
   */
  idHeader?: string;
}

/**
 * What calls to a webhook do, and how their signature is verified. Exactly one of `publish` and `start` is required.
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
   * The secret that the sender signs with. Required for a new webhook; otherwise, the default is the existing secret. It is never
   * shown. `standard`: `whsec_` and at least 16 random bytes in Base64; other schemes: at least 16 characters.
   * @minLength 16 must have at least 16 characters
   * @maxLength 1000 must have at most 1000 characters
   */
  secret?: string;
  publish?: WebhookPublish;
  start?: WebhookStart;
}

/**
 * A webhook, without its secret.
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
   * The path that the sender calls, on any node.
   */
  path: string;
  scheme: WebhookSchemeName;
  publish?: WebhookPublish;
  start?: WebhookStart;
  /**
   * The subject (`sub`) of the token that it was last set up with; `anonymous` if there was none.
   */
  changedBy: string;
  /**
   * ISO 8601, UTC.
   */
  changedTime: Time;
}

/**
 * All webhooks, ordered by name.
 */
export interface WebhookPage {
  items: Webhook[];
  /**
   * Always null: there is one page.
   */
  nextCursor: string | null;
}

/**
 * The response to Slack's URL verification request (`url_verification`).
 *
 * @example { "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" }
 */
export interface WebhookChallenge {
  /**
   * The challenge from the request.
   */
  challenge: string;
}

/**
 * An accepted call.
 *
 * @example { "id": "01j8zq3v7m9k4n2p5r6s8t0w1x" }
 */
export interface ReceivedDelivery {
  /**
   * The id of the published event, or of the run that was started or, with `onConflict: existing`, joined. A repeated delivery
   * gets the same id.
   */
  id: string;
}
