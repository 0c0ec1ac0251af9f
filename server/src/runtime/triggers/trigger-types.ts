/** The calls of clients on triggers, and their results. Times are milliseconds since 1970. */
import type { AllowedNames } from '../../base/allowed-names.js';
import type { LastFiring } from '../trigger-records/trigger-state.js';

export interface TriggerListItem {
  readonly name: string;
  readonly kind: 'cron' | 'event';
  readonly cron: string | null;
  readonly timeZone: string | null;
  readonly eventName: string | null;
  readonly eventKey: string | null;
  readonly paused: boolean;
  /** Cron triggers only; as if it were not paused. */
  readonly nextTimes: readonly number[];
  readonly last: LastFiring | null;
}

export interface BackfillRequest {
  /** The start of the period, inclusive. */
  readonly from: number;
  /** The end of the period, exclusive. */
  readonly to: number;
}

export interface ScheduleRequest {
  readonly periodMs: number;
  /** The maximum number of triggers. */
  readonly limit: number;
  /** The definitions whose triggers are listed. */
  readonly allowed: AllowedNames;
}

/** The triggers that fire from `from` to `to`. */
export interface Schedule {
  readonly from: number;
  readonly to: number;
  /** Ordered by next time. */
  readonly items: readonly ScheduledTrigger[];
  /** True if further triggers fire in the period. */
  readonly more: boolean;
}

export interface ScheduledTrigger {
  readonly definitionId: string;
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly times: readonly number[];
  /** True if it fires more often in the period. */
  readonly more: boolean;
}
