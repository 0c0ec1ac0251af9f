/** What a purge removes from the store, and the statistics of the store. */
import type { InstanceRecord, InstanceStatus } from './instances.js';

/** Which ended instances have expired. */
export interface ExpiryLimits {
  /** Those without `retentionMs` that ended before this time. */
  readonly instancesEndedBefore: number;
  /** The same for instances that still have a wake time: other instances have not been notified of their end yet. */
  readonly untoldEndedBefore: number;
  /** Those with `retentionMs` for which `endTime + retentionMs` is before this time. Omitted: none. */
  readonly ownRetentionBefore?: number;
  /** The same for instances that still have a wake time. */
  readonly untoldOwnRetentionBefore?: number;
}

/** An ended instance as it was read. If anything has changed since, it is not removed. */
export type EndedInstance = Pick<InstanceRecord, 'id' | 'inSeq' | 'revision'>;

/**
 * A store that cannot remove an instance in one step first subtracts this from its revision, by compare-and-set. So no commit
 * that builds on an earlier revision can open the instance again while its records are being removed.
 */
export const REMOVAL_OFFSET = 2 ** 40;

/**
 * Set together with the revision, so that the next purge finds the instance if the removal is interrupted, however long it was
 * to be kept, and whether or not its end was reported.
 */
export const REMOVED_FIELDS = { retentionMs: 1, wakeAt: null } as const;

/** Some of its records are missing: it must not be opened again. */
export function isBeingRemoved({ revision }: Pick<InstanceRecord, 'revision'>): boolean {
  return revision < 0;
}

/** The revision of an instance while it is being removed. */
export function removalRevision({ revision }: Pick<InstanceRecord, 'revision'>): number {
  return revision < 0 ? revision : revision - REMOVAL_OFFSET;
}

export interface Removal {
  /** The number of removed instances. */
  readonly removed: number;
  /** False: a history was so long that the call must be repeated. */
  readonly isComplete: boolean;
}

/** Expired instances are removed with everything that belongs to them, oldest first. */
export interface PurgeRequest extends ExpiryLimits {
  /** Expired instances stay: the caller removes them by their ids. */
  readonly keepsInstances?: boolean;
  /** Events published before this time are removed once they have been delivered. */
  readonly eventsPublishedBefore: number;
  /** Done and settled activities that are older than this are removed. */
  readonly activitiesDoneBefore: number;
  /** Maximum number of records removed of each kind. Instances with and without `retentionMs` are two kinds. */
  readonly limit: number;
}

export interface PurgeResult {
  readonly instances: number;
  readonly events: number;
  readonly activities: number;
  /** False: something else is left that has expired, such as the rest of a long history. The call must be repeated. */
  readonly isComplete: boolean;
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
