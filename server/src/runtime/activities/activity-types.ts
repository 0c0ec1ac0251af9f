/** The calls of workers and operators on activities, and their results. Times are milliseconds since 1970. */
import type { Json } from '../../engine/values/json.js';
import type { Priority } from '../../engine/model/start-options.js';
import type { PolledActivity, WorkerIdentity } from '../workers/worker-registry.js';
import type { TraceHeaders } from '../../tracing/trace-context.js';

export type WorkerOrigin = Omit<WorkerIdentity, 'workerId'>;

export interface PullRequest {
  readonly name: string;
  readonly workerId: string;
  /** Further facts about the worker; only operators see them. */
  readonly origin?: WorkerOrigin;
  readonly timeoutMs: number;
  /** Null: the item is held until it is completed or released. */
  readonly leaseMs: number | null;
  /** Aborted when the caller disconnects or loses its permission. */
  readonly signal: AbortSignal;
}

export interface WorkItem extends TraceHeaders {
  readonly token: string;
  readonly activityName: string;
  readonly parameters: Json;
  /** The length of its stored form, in characters. */
  readonly storedLength: number;
  /** Null: never. */
  readonly tokenExpiresAt: number | null;
  readonly workflowId: string;
  readonly stepId: string;
  readonly executionId: number;
  /** The same for all attempts of the execution. */
  readonly idempotencyKey: string;
  readonly attempt: number;
}

export interface ExtendedLease {
  readonly tokenExpiresAt: number;
  /** The run is being compensated: the holder should stop its work. It may still report a result. */
  readonly cancelRequested: boolean;
}

export interface ActivityQueueView {
  readonly activityName: string;
  /** Number of items that no worker holds. */
  readonly waiting: number;
  readonly held: number;
  /** When the oldest waiting item was offered. */
  readonly oldestTime: number | null;
  /** Number of polls that are waiting for work of this name. */
  readonly pollers: number;
  readonly lastPollTime: number | null;
}

export interface ActivityItemView {
  readonly workflowId: string;
  /** Null: the run has been removed. */
  readonly definitionId: string | null;
  readonly reference: string | null;
  readonly executionId: number;
  /** The number of the next or current attempt. */
  readonly attempt: number;
  readonly priority: Priority;
  readonly fairnessKey: string | null;
  readonly offeredTime: number;
  /** `deferred`: skipped, because its workflow is not Runnable. */
  readonly state: 'waiting' | 'held' | 'deferred' | 'limited';
  readonly workerId: string | null;
  /** Null: it is held without a lease, or isn't held. */
  readonly leaseUntil: number | null;
}

/** An item that a worker holds. */
export interface HeldItemView {
  readonly activityName: string;
  readonly workflowId: string;
  /** Null: the run has been removed. */
  readonly definitionId: string | null;
  readonly reference: string | null;
  readonly executionId: number;
  readonly attempt: number;
  readonly offeredTime: number;
  /** When the worker got it; null if no node remembers. */
  readonly heldSince: number | null;
  /** Null: it is held without a lease. */
  readonly leaseUntil: number | null;
}

/** A worker, over all nodes. */
export interface WorkerView extends WorkerIdentity {
  /** Polls that are waiting now. */
  readonly polling: number;
  /** Null if no node remembers a poll of this worker. */
  readonly lastPollTime: number | null;
  readonly activities: readonly PolledActivity[];
  /** Number of items that it holds. */
  readonly held: number;
  /** Some of these items, earliest lease end first. */
  readonly items: readonly HeldItemView[];
}

export interface WorkerList {
  readonly items: readonly WorkerView[];
  /** Number of workers, including those that are not in `items`. */
  readonly count: number;
  /** False: there are more workers, or workers hold more items. */
  readonly exact: boolean;
}

export interface WorkerListRequest {
  readonly workerId?: string;
  readonly activityName?: string;
  readonly limit: number;
}
