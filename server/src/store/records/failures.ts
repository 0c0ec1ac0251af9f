/** Failed instances in groups: those with the same cause have the same key. */
import type { IndexCondition } from './index-conditions.js';
import type { InstancePosition } from './instance-lists.js';
import type { InstanceFailure, InstanceStatus } from './instances.js';

export interface FailureFilter {
  /** Of the keys. */
  readonly keyPrefix?: string;
  /** Of the ids of the definitions. */
  readonly definitionPrefixes?: readonly string[];
  readonly status?: InstanceStatus;
  /** The time of the error, inclusive. */
  readonly failedFrom?: number;
  /** Exclusive. */
  readonly failedTo?: number;
  /** All must hold. Not empty. */
  readonly where?: readonly IndexCondition[];
}

export interface FailureRequest {
  readonly filter: FailureFilter;
  /** Begins of the hours by which instances are counted: this time, and full hours before it. */
  readonly now: number;
  /** The end of what the previous call has counted. */
  readonly after: InstancePosition | null;
}

/** Failed instances with the same key and status whose errors are of the same hour. */
export interface FailureCount {
  readonly definitionId: string;
  readonly failure: InstanceFailure;
  readonly status: InstanceStatus;
  /** How many hours ago they failed, rounded down: from 0 to `FAILURE_HOURS`, which stands for all earlier ones. */
  readonly hoursAgo: number;
  readonly count: number;
  /** When the first of them began to fail, which may have been before that hour. */
  readonly firstAt: number;
  /** The time of the newest error. */
  readonly lastAt: number;
  /** The instance with the newest error. */
  readonly example: string;
}

export const FAILURE_HOURS = 24;
export const HOUR_MS = 3_600_000;
/** Failed instances that one call counts. */
export const FAILURES_COUNTED_MAX = 2000;
/** The same with conditions: their instances are read, and each may have a long list in its index fields. */
export const FAILURES_SEARCHED_MAX = 500;

export function sectionMaxOf({ where }: FailureFilter): number {
  return where === undefined ? FAILURES_COUNTED_MAX : FAILURES_SEARCHED_MAX;
}

export interface FailureCounts {
  /** In any order. */
  readonly counts: readonly FailureCount[];
  /** The next call continues here; null: there are no more. */
  readonly countedTo: InstancePosition | null;
}
