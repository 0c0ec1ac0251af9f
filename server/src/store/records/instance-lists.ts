/** Which instances a list shows, and in which order. */
import type { InstanceOutcome, InstanceStatus } from './instances.js';

export interface InstanceFilter {
  readonly status?: InstanceStatus;
  readonly definitionId?: string;
  readonly version?: number;
  readonly reference?: string;
  readonly outcome?: InstanceOutcome;
  /** Those that this instance started; null: those that a client started. */
  readonly parentId?: string | null;
  /** Inclusive. */
  readonly startedFrom?: number;
  /** Exclusive. */
  readonly startedTo?: number;
  /** Shows an error of this time or later. Not together with `unchangedSince`. */
  readonly failedFrom?: number;
  /** Runnable or Suspended, and last changed before this time. */
  readonly unchangedSince?: number;
}

/**
 * The order of a list and the time that gives it: the newest start first; with `failedFrom` the newest error first; with
 * `unchangedSince` the oldest change first. Among equal times ids go the same way as the times. `after` is the position
 * of the last one of the page before.
 */
export interface InstancePage {
  readonly filter: InstanceFilter;
  readonly after: InstancePosition | null;
  readonly limit: number;
}

export interface InstancePosition {
  readonly time: number;
  readonly id: string;
}
