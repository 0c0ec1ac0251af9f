/** The wire types of triggers. */
import type { Time } from './time.js';

/**
 * The outcome of the last due time or event.
 */
export interface TriggerFiring {
  /**
   * The planned time, or the time of the event. ISO 8601, UTC.
   */
  time: Time;
  /**
   * The started run; null if there was none.
   */
  workflowId: string | null;
  /**
   * `Skipped`: the previous run was still open, another run had the reference and the definition has an `OnConflict`, or the
   * scopes of the event's publisher don't cover the definition. `Failed`: an expression failed, or the data was rejected.
   * `Missed`: no server was running within the catch-up time.
   */
  outcome: 'Started' | 'Skipped' | 'Failed' | 'Missed';
  /**
   * Why it didn't start a run; null if it did.
   */
  reason: string | null;
}

/**
 * A trigger of a definition.
 *
 * @example {
 *   "name": "nightly",
 *   "kind": "cron",
 *   "cron": "0 2 * * *",
 *   "timeZone": "Europe/Zurich",
 *   "eventName": null,
 *   "eventKey": null,
 *   "paused": false,
 *   "nextTimes": ["2026-05-05T00:00:00.000Z"],
 *   "last": {
 *     "time": "2026-05-04T00:00:00.000Z",
 *     "workflowId": "01hx5v3x9t6k2m4n8p0q",
 *     "outcome": "Started",
 *     "reason": null
 *   }
 * }
 */
export interface Trigger {
  name: string;
  kind: 'cron' | 'event';
  /**
   * Null for an event trigger.
   */
  cron: string | null;
  timeZone: string | null;
  /**
   * Null for a cron trigger.
   */
  eventName: string | null;
  /**
   * Null for any key.
   */
  eventKey: string | null;
  paused: boolean;
  /**
   * The next five times, as if the trigger were not paused. ISO 8601, UTC.
   */
  nextTimes: Time[];
  /**
   * Null if it hasn't fired yet.
   */
  last: TriggerFiring | null;
}

/**
 * A period to start runs for.
 *
 * @example { "from": "2026-05-01T00:00:00Z", "to": "2026-05-04T00:00:00Z" }
 */
export interface Backfill {
  /**
   * The start of the period, inclusive; it must be in the past. ISO 8601.
   */
  from: Time;
  /**
   * The end of the period, exclusive.
   */
  to: string;
}

/**
 * The due times of a backfill.
 *
 * @example { "times": ["2026-05-01T00:00:00.000Z", "2026-05-02T00:00:00.000Z"] }
 */
export interface BackfillTimes {
  /**
   * ISO 8601, UTC, the earliest first.
   */
  times: Time[];
}

/**
 * A cron trigger that fires soon.
 */
export interface ScheduledTrigger {
  definitionId: string;
  name: string;
  cron: string;
  timeZone: string;
  /**
   * Its due times in the period, at most 24. ISO 8601, UTC, the earliest first.
   */
  times: Time[];
  /**
   * Whether it fires more often in the period.
   */
  more: boolean;
}

/**
 * The cron triggers of all definitions that fire in a period.
 *
 * @example {
 *   "from": "2026-05-03T12:00:00.000Z",
 *   "to": "2026-05-04T12:00:00.000Z",
 *   "items": [
 *     {
 *       "definitionId": "report",
 *       "name": "nightly",
 *       "cron": "0 2 * * *",
 *       "timeZone": "Europe/Zurich",
 *       "times": ["2026-05-04T00:00:00.000Z"],
 *       "more": false
 *     }
 *   ],
 *   "more": false
 * }
 */
export interface Schedule {
  /**
   * The time of the request. ISO 8601, UTC.
   */
  from: Time;
  to: string;
  /**
   * Ordered by the first due time.
   */
  items: ScheduledTrigger[];
  /**
   * Whether more triggers fire in the period.
   */
  more: boolean;
}
