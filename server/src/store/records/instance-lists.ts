/** The filters and the order of instance lists. */
import type { IndexCondition } from './index-conditions.js';
import type { InstanceOutcome, InstanceStatus, InstanceSummary } from './instances.js';

export interface InstanceFilter {
  readonly status?: InstanceStatus;
  readonly definitionId?: string;
  /** Instances of definitions whose id begins with one of these. */
  readonly definitionPrefixes?: readonly string[];
  readonly version?: number;
  readonly reference?: string;
  readonly outcome?: InstanceOutcome;
  /** Children of this instance; null: instances that a client started. */
  readonly parentId?: string | null;
  /** Inclusive. */
  readonly startedFrom?: number;
  /** Exclusive. */
  readonly startedTo?: number;
  /** Inclusive. Open instances have no end. */
  readonly endedFrom?: number;
  /** Exclusive. */
  readonly endedTo?: number;
  /** All of them must hold. */
  readonly where?: readonly IndexCondition[];
  /** Instances that show an error at or after this time. Cannot be combined with `unchangedSince`. */
  readonly failedFrom?: number;
  /** Instances with this key in their failure. */
  readonly failure?: string;
  /** Only open instances that wait for those before them. */
  readonly queued?: true;
  /** Runnable or Suspended instances that last changed before this time. */
  readonly unchangedSince?: number;
  /**
   * Instances with this text in their id, their reference, a tag or an index field. A store may add others, so the caller
   * compares each; their number means nothing.
   */
  readonly mayContain?: string;
}

/**
 * The order of a list and the time that determines it: newest start first; with `failedFrom`, newest error first; with
 * `unchangedSince`, oldest change first. Equal times are ordered by id, in the same direction. `after` is the position
 * of the last item of the previous page.
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

/** Part of a list, in its order. */
export interface InstanceList {
  readonly items: readonly InstanceSummary[];
  /**
   * Set if the store found fewer than `limit` instances and stopped at this position, because it had searched enough: there
   * may be more after it.
   */
  readonly searchedTo: InstancePosition | null;
}

export interface InstanceCountRequest {
  readonly filter: InstanceFilter;
  readonly after: InstancePosition | null;
  /** Counting stops here. */
  readonly max: number;
}

export interface InstanceCount {
  readonly count: number;
  /** As in a list. */
  readonly searchedTo: InstancePosition | null;
}
