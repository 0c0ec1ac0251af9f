/** The wire types of triggers. */
import type { Time } from './time.js';

/**
 * What came of the last due time or event.
 */
export interface TriggerFiring {
  /**
   * The planned time, or the time of the event. ISO 8601, UTC.
   */
  time: Time;
  /**
   * The run that was started; null: none was.
   */
  workflowId: string | null;
  /**
   * `Skipped`: the run before was still open, another run had the reference and the definition has an `OnConflict`, or the scopes
   * of the caller who published the event do not reach the definition. `Failed`: an expression failed, or the data was rejected. `Missed`: no server
   * ran within the catch-up time.
   */
  outcome: 'Started' | 'Skipped' | 'Failed' | 'Missed';
  /**
   * Why it did not start a run; null if it did.
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
   * Null: any key.
   */
  eventKey: string | null;
  paused: boolean;
  /**
   * The next five times, as if the trigger were not paused. ISO 8601, UTC.
   */
  nextTimes: Time[];
  /**
   * Null: it has not fired yet.
   */
  last: TriggerFiring | null;
}

/**
 * A period whose due times are to start runs.
 *
 * @example { "from": "2026-05-01T00:00:00Z", "to": "2026-05-04T00:00:00Z" }
 */
export interface Backfill {
  /**
   * The first time that counts; it must have passed. ISO 8601.
   */
  from: Time;
  /**
   * The first time that does not count.
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
   * Its times in the period, at most 24. ISO 8601, UTC, the earliest first.
   */
  times: Time[];
  /**
   * Whether it fires more often in the period.
   */
  more: boolean;
}

/**
 * What cron triggers fire in a period, over all definitions.
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
   * The trigger that fires first comes first.
   */
  items: ScheduledTrigger[];
  /**
   * Whether further triggers fire in the period.
   */
  more: boolean;
}
