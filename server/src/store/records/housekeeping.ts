/** What a purge removes from the store, and the statistics of the store. */
import type { InstanceStatus } from './instances.js';

export interface PurgeRequest {
  /** Instances that ended before this time are removed with everything that belongs to them, oldest first. */
  readonly instancesEndedBefore: number;
  /** The same for instances that still have a wake time: other instances have not been notified of their end yet. */
  readonly untoldEndedBefore: number;
  /** Events published before this time are removed once they have been delivered. */
  readonly eventsPublishedBefore: number;
  /** Done and settled activities that are older than this are removed. */
  readonly activitiesDoneBefore: number;
  /** Maximum number of records removed of each kind. */
  readonly limit: number;
}

export interface PurgeResult {
  readonly instances: number;
  readonly events: number;
  readonly activities: number;
}

export interface StoreStatistics {
  readonly instances: Readonly<Record<InstanceStatus, number>>;
  /** The ten names with the most unclaimed items. */
  readonly activities: readonly {
    readonly name: string;
    readonly waiting: number;
    readonly oldestAvailableAt: number | null;
  }[];
  readonly undeliveredEvents: number;
}
