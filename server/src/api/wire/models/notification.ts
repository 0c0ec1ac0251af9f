/** The wire types of notifications and their deliveries. */
import type { Time } from './time.js';

/** A run change. `failed`: ended by an error. `terminated`: ended by a user or another run. */
export type NotifiedChange = 'started' | 'completed' | 'failed' | 'suspended' | 'terminated';

/**
 * A target and the run changes to report to it.
 *
 * @example {
 *   "url": "https://billing.example/hooks",
 *   "on": ["completed", "failed"],
 *   "definitionId": "order",
 *   "where": ["customer=C-17"],
 *   "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
 *   "include": "summary"
 * }
 */
export interface NotificationRequest {
  /**
   * Where messages are sent: an `http:` or `https:` URL. The address and redirect rules of HttpRequest steps apply.
   * @minLength 1 must not be empty
   * @maxLength 2000 must have at most 2000 characters
   */
  url: string;
  /**
   * The changes to report.
   * @minItems 1 must name at least one change
   * @maxItems 5 must name each change once
   */
  on: NotifiedChange[];
  /**
   * Only report runs of this definition. The default is all definitions.
   */
  definitionId?: string;
  /**
   * Only report runs that match these conditions on tags and index fields when they change, as in the run list: a single
   * condition or a list.
   */
  where?: string | string[];
  /**
   * The signing secret: `whsec_` and at least 16 random bytes in Base64. Required for a new notification; otherwise, the default
   * is the existing secret. It is never shown.
   */
  secret?: string;
  /**
   * The message content: a summary of the run (the default), or also its data.
   */
  include?: 'summary' | 'data';
}

/**
 * A notification, without its secret.
 *
 * @example {
 *   "name": "billing",
 *   "url": "https://billing.example/hooks",
 *   "on": ["completed", "failed"],
 *   "definitionId": "order",
 *   "where": ["customer=C-17"],
 *   "include": "summary",
 *   "paused": false,
 *   "pausedBecause": null,
 *   "changedBy": "ada",
 *   "changedTime": "2026-05-04T10:20:30.123Z"
 * }
 */
export interface Notification {
  name: string;
  url: string;
  on: NotifiedChange[];
  /**
   * Null for all definitions.
   */
  definitionId: string | null;
  where: string[];
  include: 'summary' | 'data';
  /**
   * While it is paused, nothing is sent and changes aren't recorded.
   */
  paused: boolean;
  /**
   * Why it is paused; null if it isn't.
   */
  pausedBecause: string | null;
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
 * All notifications, ordered by name.
 */
export interface NotificationPage {
  items: Notification[];
  /**
   * Always null: there is one page.
   */
  nextCursor: string | null;
}

/** `waiting`: another attempt will follow. `delivered`: the target has accepted it. `failed`: all attempts have failed. */
export type DeliveryState = 'waiting' | 'delivered' | 'failed';

/**
 * A message to the target of a notification.
 *
 * @example {
 *   "id": "msg_zWc1mHk0",
 *   "type": "workflow.completed",
 *   "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *   "state": "waiting",
 *   "attempts": 1,
 *   "createdTime": "2026-05-04T10:20:30.123Z",
 *   "nextAttemptTime": "2026-05-04T10:20:35.423Z",
 *   "endTime": null,
 *   "lastAnswer": {
 *     "time": "2026-05-04T10:20:30.201Z",
 *     "status": 503,
 *     "error": null,
 *     "body": "try later",
 *     "durationMs": 12
 *   }
 * }
 */
export interface Delivery {
  /**
   * The same in all attempts. Receivers get it in the `webhook-id` header.
   */
  id: string;
  /**
   * For example, `workflow.completed`; `workflow.test` for test messages.
   */
  type: string;
  /**
   * The run that has changed; null for test messages.
   */
  workflowId: string | null;
  state: DeliveryState;
  /**
   * @isInt
   */
  attempts: number;
  /**
   * ISO 8601, UTC.
   */
  createdTime: Time;
  /**
   * The time of the next attempt: ISO 8601, UTC; null if there is none.
   */
  nextAttemptTime: Time | null;
  /**
   * When it was delivered or abandoned: ISO 8601, UTC; null while it is waiting.
   */
  endTime: Time | null;
  /**
   * The result of the last attempt; null until the first one has ended.
   */
  lastAnswer: DeliveryAnswer | null;
}

/**
 * The result of an attempt.
 */
export interface DeliveryAnswer {
  /**
   * When it was sent: ISO 8601, UTC.
   */
  time: Time;
  /**
   * The HTTP status; null if there was no response.
   * @isInt
   */
  status: number | null;
  /**
   * Why there was no response, or why the response was not accepted.
   */
  error: string | null;
  /**
   * The first 500 characters of the response.
   */
  body: string | null;
  /**
   * @isInt
   */
  durationMs: number;
}

/**
 * A page of deliveries, the newest first.
 */
export interface DeliveryPage {
  items: Delivery[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
