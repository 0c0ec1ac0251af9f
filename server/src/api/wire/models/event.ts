/** Events on the wire. */
import type { JsonValue } from './json-value.js';

/**
 * An event that was stored.
 *
 * @example { "id": "01hx5v7c2r8d4f6g9h1j", "deliveredTo": 1 }
 */
export interface PublishedEvent {
  id: string;
  /**
   * How many waiting workflows it was handed to at once; later waits can still take it.
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
   * Null with `dataOmitted`.
   */
  data: JsonValue;
  /**
   * The data is longer than 4,096 characters, too long for a list.
   */
  dataOmitted: boolean;
  /**
   * ISO 8601, UTC.
   */
  publishTime: string;
  /**
   * How many waiting workflows it was handed to at once; null while that is under way.
   */
  deliveredTo: number | null;
  /**
   * The first 20 workflows that waited for it when it was published. A workflow that waits later can take it too, which is
   * not noted here.
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
  publishTime: string;
  /**
   * How many waiting workflows it was handed to at once; null while that is under way.
   */
  deliveredTo: number | null;
}

/**
 * Events, newest first, one page of them.
 */
export interface EventPage {
  items: EventSummary[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}

/**
 * A step that waits for an event.
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
   * Events that were published from this time on are wanted. ISO 8601, UTC.
   */
  since: string;
}

/**
 * Steps that wait for an event, one page of them.
 */
export interface EventWaiterPage {
  items: EventWaiter[];
  /**
   * The `cursor` of the next page; null on the last one.
   */
  nextCursor: string | null;
}
