/** What workers and operators ask of activities and see of them. Times are milliseconds since 1970. */
import type { Json } from '../../engine/values/json.js';

export interface PullRequest {
  readonly name: string;
  readonly workerId: string;
  readonly timeoutMs: number;
  /** Null: the item is held until it is completed or released. */
  readonly leaseMs: number | null;
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal;
}

export interface WorkItem {
  readonly token: string;
  readonly activityName: string;
  readonly parameters: Json;
  /** Null: never. */
  readonly tokenExpiresAt: number | null;
  readonly workflowId: string;
  readonly stepId: string;
  readonly executionId: number;
  /** The same for all attempts of the execution. */
  readonly idempotencyKey: string;
  readonly attempt: number;
}

export interface ActivityQueueView {
  readonly activityName: string;
  /** Nobody holds them. */
  readonly waiting: number;
  readonly held: number;
  /** When the oldest of the waiting ones was offered. */
  readonly oldestTime: number | null;
  /** Polls that wait for work of this name. */
  readonly pollers: number;
  readonly lastPollTime: number | null;
}

export interface ActivityItemView {
  readonly workflowId: string;
  readonly executionId: number;
  /** Which hand-out is next, or under way. */
  readonly attempt: number;
  readonly offeredTime: number;
  /** `deferred`: passed over, because its workflow is not Runnable. */
  readonly state: 'waiting' | 'held' | 'deferred';
  readonly workerId: string | null;
  /** Null: it is held without a lease, or not held. */
  readonly leaseUntil: number | null;
}
