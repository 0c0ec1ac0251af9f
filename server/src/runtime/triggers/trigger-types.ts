/** The calls of clients on triggers, and their results. Times are milliseconds since 1970. */
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
