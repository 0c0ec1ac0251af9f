/** The calls of clients on triggers, and their results. Times are milliseconds since 1970. */
import type { NameReach } from '../../base/name-reach.js';
import type { LastFiring } from './trigger-state.js';

export interface TriggerListItem {
  readonly name: string;
  readonly kind: 'cron' | 'event';
  readonly cron: string | null;
  readonly timeZone: string | null;
  readonly eventName: string | null;
  readonly eventKey: string | null;
  readonly paused: boolean;
  /** Of cron triggers, as if it were not paused. */
  readonly nextTimes: readonly number[];
  readonly last: LastFiring | null;
}

export interface BackfillRequest {
  /** The first time that may be started. */
  readonly from: number;
  /** The first time that may not. */
  readonly to: number;
}

export interface ScheduleRequest {
  readonly periodMs: number;
  /** The maximum number of triggers. */
  readonly limit: number;
  /** Of the ids of definitions. */
  readonly reach: NameReach;
}

/** The triggers that fire from `from` to `to`. */
export interface Schedule {
  readonly from: number;
  readonly to: number;
  /** The one that fires first comes first. */
  readonly items: readonly ScheduledTrigger[];
  /** Whether further triggers fire in the period. */
  readonly more: boolean;
}

export interface ScheduledTrigger {
  readonly definitionId: string;
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly times: readonly number[];
  /** Whether it fires more often in the period. */
  readonly more: boolean;
}
