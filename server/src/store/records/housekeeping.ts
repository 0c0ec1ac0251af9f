/** What is removed from the store, and what is counted in it. */
import type { InstanceStatus } from './instances.js';

export interface PurgeRequest {
  /** Instances that ended before this go, with everything that belongs to them, oldest first. */
  readonly instancesEndedBefore: number;
  /** The same for those that still have a wake time: others have not heard of their end yet. */
  readonly untoldEndedBefore: number;
  /** Events published before this go, once they are marked as delivered. */
  readonly eventsPublishedBefore: number;
  /** Done and settled activities older than this go. */
  readonly activitiesDoneBefore: number;
  /** At most this many of each kind. */
  readonly limit: number;
}

export interface PurgeResult {
  readonly instances: number;
  readonly events: number;
  readonly activities: number;
}

export interface StoreStatistics {
  readonly instances: Readonly<Record<InstanceStatus, number>>;
  /** The ten names with the most items that nobody holds. */
  readonly activities: readonly {
    readonly name: string;
    readonly waiting: number;
    readonly oldestAvailableAt: number | null;
  }[];
  readonly undeliveredEvents: number;
}
