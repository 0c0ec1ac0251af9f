/** The wire types of events. */
import type { JsonValue } from './json-value.js';
import type { Time } from './time.js';

/**
 * A stored event.
 *
 * @example { "id": "01hx5v7c2r8d4f6g9h1j", "deliveredTo": 1 }
 */
export interface PublishedEvent {
  id: string;
  /**
   * The number of waiting runs that the event was delivered to immediately. Runs that wait for it later can still take
   * it.
   * @isInt
   */
  deliveredTo: number;
}

/**
 * An event in a list.
 *
 * @example {
 *   "id": "01hx5v7c2r8d4f6g9h1j",
 *   "name": "Approved",
 *   "key": "order-7",
 *   "data": { "by": "Ada" },
 *   "dataOmitted": false,
 *   "publishTime": "2026-05-04T10:20:30.123Z",
 *   "deliveredTo": 1,
 *   "takenBy": ["01hx5v3x9t6k2m4n8p0q"]
 * }
 */
export interface EventSummary {
  id: string;
  name: string;
  key: string;
  /**
   * Null if `dataOmitted` is true.
   */
  data: JsonValue;
  /**
   * Whether the data is omitted because it is longer than 4,096 characters.
   */
  dataOmitted: boolean;
  /**
   * ISO 8601, UTC.
   */
  publishTime: Time;
  /**
   * The number of waiting runs that the event was delivered to immediately; null while delivery is in progress.
   * @isInt
   */
  deliveredTo: number | null;
  /**
   * The first 20 runs that were waiting for the event when it was published. Runs that took it later are not listed.
   */
  takenBy: string[];
}

/**
 * An event with all of its data.
 *
 * @example {
 *   "id": "01hx5v7c2r8d4f6g9h1j",
 *   "name": "Approved",
 *   "key": "order-7",
 *   "data": { "by": "Ada" },
 *   "publishTime": "2026-05-04T10:20:30.123Z",
 *   "deliveredTo": 1
 * }
 */
export interface StoredEvent {
  id: string;
  name: string;
  key: string;
  data: JsonValue;
  /**
   * ISO 8601, UTC.
   */
  publishTime: Time;
  /**
   * The number of waiting runs that the event was delivered to immediately; null while delivery is in progress.
   * @isInt
   */
  deliveredTo: number | null;
}

/**
 * A page of events, the newest first.
 */
export interface EventPage {
  items: EventSummary[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}

/**
 * A step that is waiting for an event.
 *
 * @example { "workflowId": "01hx5v3x9t6k2m4n8p0q", "executionId": 2, "since": "2026-05-04T10:20:30.123Z" }
 */
export interface EventWaiter {
  workflowId: string;
  /**
   * @isInt
   */
  executionId: number;
  /**
   * The effective date: the step takes events published at this time or later. ISO 8601, UTC.
   */
  since: Time;
}

/**
 * A page of the steps that are waiting for an event.
 */
export interface EventWaiterPage {
  items: EventWaiter[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
