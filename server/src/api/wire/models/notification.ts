/** The wire types of notifications and their deliveries. */
import type { Time } from './time.js';

/** A change of a run. `failed`: an error ended it. `terminated`: a person or another run did. */
export type NotifiedChange = 'started' | 'completed' | 'failed' | 'suspended' | 'terminated';

/**
 * Whom to tell about which changes of runs.
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
   * Where messages are sent: an address that begins with `http:` or `https:`. The rules of HttpRequest steps for addresses
   * and redirects apply.
   * @minLength 1 must not be empty
   * @maxLength 2000 must have at most 2000 characters
   */
  url: string;
  /**
   * The changes to tell.
   * @minItems 1 must name at least one change
   * @maxItems 5 must name each change once
   */
  on: NotifiedChange[];
  /**
   * Only of runs of this definition. Without it, of all.
   */
  definitionId?: string;
  /**
   * Only of runs that fulfill these conditions on tags and index fields when they change, as in the list of runs: one as
   * text, or a list.
   */
  where?: string | string[];
  /**
   * The secret that signs messages: `whsec_` and at least 16 random bytes in Base64. Required for a new notification;
   * without it, the one that the notification has stays. It is never shown.
   */
  secret?: string;
  /**
   * What messages contain: a summary of the run (the default), or also its data.
   */
  include?: 'summary' | 'data';
}

/**
 * A notification. Its secret is not shown.
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
   * Null: of all definitions.
   */
  definitionId: string | null;
  where: string[];
  include: 'summary' | 'data';
  /**
   * While it is paused, nothing is sent, and changes are not recorded.
   */
  paused: boolean;
  /**
   * Why it is paused; null if it is not.
   */
  pausedBecause: string | null;
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
 * All notifications, in the order of their names.
 */
export interface NotificationPage {
  items: Notification[];
  /**
   * Always null: there is one page.
   */
  nextCursor: string | null;
}

/** `waiting`: it will be tried. `delivered`: the target has accepted it. `failed`: it was given up. */
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
   * The same in all attempts; receivers find it in the header `webhook-id`.
   */
  id: string;
  /**
   * Such as `workflow.completed`; `workflow.test` for tests.
   */
  type: string;
  /**
   * The run that has changed; null for tests.
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
   * When it is tried next: ISO 8601, UTC; null if it is not.
   */
  nextAttemptTime: Time | null;
  /**
   * When it was delivered or given up: ISO 8601, UTC; null while it is waiting.
   */
  endTime: Time | null;
  /**
   * What became of the last attempt; null before the first one has ended.
   */
  lastAnswer: DeliveryAnswer | null;
}

/**
 * What became of an attempt.
 */
export interface DeliveryAnswer {
  /**
   * When it was sent: ISO 8601, UTC.
   */
  time: Time;
  /**
   * The HTTP status; null if there was no answer.
   * @isInt
   */
  status: number | null;
  /**
   * Why there was no answer, or what was wrong with it.
   */
  error: string | null;
  /**
   * The first 500 characters of the answer.
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
