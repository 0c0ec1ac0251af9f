/** The wire types of the audit log. */
import type { Time } from './time.js';

/**
 * The target of a change.
 */
export interface AuditedTarget {
  /**
   * `definition`, `script`, `trigger`, `webhook`, `limit`, `notification`, `key`, `workflow` or `bulk`.
   */
  kind: string;
  /**
   * The id or the name; for a trigger, `<definition>/<trigger>`.
   */
  id: string;
}

/**
 * A change made by a client.
 *
 * @example {
 *   "id": "998111222333444-999999998-01hx5v7c2r8d4f6g9h1j",
 *   "time": "2026-05-04T10:20:30.123Z",
 *   "actor": "ada",
 *   "address": "192.0.2.7",
 *   "action": "webhook.put",
 *   "target": { "kind": "webhook", "id": "shop" },
 *   "detail": null
 * }
 */
export interface AuditEntry {
  id: string;
  /**
   * ISO 8601, UTC.
   */
  time: Time;
  /**
   * The subject (`sub`) of the caller's token, or the name of its API key; `anonymous` if it has none, or if the server
   * requires no token.
   */
  actor: string;
  /**
   * The address that the call came from.
   */
  address: string;
  /**
   * The target kind and the action, such as `workflow.suspend`.
   */
  action: string;
  target: AuditedTarget;
  /**
   * The new version, the action of a bulk job, or the reason that the caller gave.
   */
  detail: string | null;
}

/**
 * A page of the audit log.
 */
export interface AuditPage {
  items: AuditEntry[];
  /**
   * Pass it as `cursor` to get the next page; null on the last page.
   */
  nextCursor: string | null;
}
