/** What whoever runs the server looks at: events, who waits for them, and the queues of activities. Times are milliseconds. */
import type { Json } from '../../engine/values/json.js';
import type { ControlAction, InstanceStatus } from '../../store/store.js';

export interface EventView {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  /** Null with `dataOmitted`, when it is too long for a list. */
  readonly data: Json;
  readonly dataOmitted: boolean;
  readonly publishTime: number;
  /** To how many waiting instances it was handed at once; null: not yet to all. */
  readonly deliveredTo: number | null;
  /** The first instances that it was handed to when it was published; who takes it later is not noted. */
  readonly takenBy: readonly string[];
}

/** An event with all of its data. */
export type StoredEventView = Omit<EventView, 'dataOmitted' | 'takenBy'>;

export interface EventWaiterView {
  readonly workflowId: string;
  readonly executionId: number;
  /** Events published from this time on are wanted. */
  readonly since: number;
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

/**
 * What can be done to an instance as a whole. `compensate`: terminate with compensation; `retry`: steps that wait for
 * another try are tried now.
 */
export type SteerAction = ControlAction | 'retry';

export interface ControlOutcome {
  readonly workflowId: string;
  /** `refused`: its status does not allow it. */
  readonly outcome: 'done' | 'refused' | 'missing';
  readonly status: InstanceStatus | null;
}
