/** Computes the due times of a cron trigger. Pure: the caller passes the time. */
import type { CronSource } from '../../engine/model/trigger.js';
import { fractionOf } from '../../base/ids.js';
import { scheduleOf } from '../../schedules/trigger-times.js';
import type { DueRange, TriggerState } from './trigger-state.js';

/** Only due times older than this count as missed, however short CatchUp is: a healthy server is less late. */
const LATE_MS = 2000;
/** Maximum number of missed times counted; further ones are skipped. */
const MISSED_MAX = 1000;

export interface DueTime {
  readonly time: number;
  /** True if it was queued before, or belongs to a backfill. */
  readonly isBacklog: boolean;
}

/** The delay of the start at this time, always the same. */
export function jitterOf(recordId: string, { jitterMs }: CronSource, time: number): number {
  if (jitterMs <= 0) return 0;
  return Math.floor(fractionOf(recordId, String(time)) * jitterMs);
}

/** When a node must check the trigger; null: only after a change. */
export function dueAtOf(
  recordId: string,
  source: CronSource,
  { backlog, cursor, paused }: TriggerState,
  now: number,
): number | null {
  if (backlog.length > 0) return now;
  if (paused) return null;
  const next = scheduleOf(source).nextAfter(cursor);
  return next === null ? null : next + jitterOf(recordId, source, next);
}

/** The next due time, if it is due now. */
export function nextDue(
  recordId: string,
  source: CronSource,
  state: TriggerState,
  now: number,
): DueTime | null {
  const schedule = scheduleOf(source);
  for (const { from, to } of state.backlog) {
    const time = schedule.nextAfter(from);
    if (time !== null && time <= to) return { time, isBacklog: true };
  }
  if (state.paused) return null;
  const time = schedule.nextAfter(state.cursor);
  if (time === null || time + jitterOf(recordId, source, time) > now) return null;
  return { time, isBacklog: false };
}

/** The state after the decision on a due time. */
export function passed(state: TriggerState, { isBacklog, time }: DueTime): TriggerState {
  if (!isBacklog) return { ...state, cursor: time };
  const backlog = state.backlog.flatMap((range): readonly DueRange[] => {
    if (range.to <= time) return [];
    return [range.from < time ? { from: time, to: range.to } : range];
  });
  return { ...state, backlog };
}

/** Queues the due times after the cursor, up to the given one. */
export function queued(state: TriggerState, time: number): TriggerState {
  const last = state.backlog.at(-1);
  const range = { from: state.cursor, to: time };
  const backlog =
    last !== undefined && last.to === range.from
      ? [...state.backlog.slice(0, -1), { from: last.from, to: time }]
      : [...state.backlog, range];
  return { ...state, cursor: time, backlog };
}

/** Due times that are too old to catch up; the newest of the counted ones. */
export function missedTimes(
  recordId: string,
  source: CronSource,
  state: TriggerState,
  now: number,
): { readonly count: number; readonly newest: number; readonly cursor: number } | null {
  if (state.paused) return null;
  const schedule = scheduleOf(source);
  const { catchUpMs, jitterMs } = source;
  const lateMs = Math.max(catchUpMs, LATE_MS);
  let count = 0;
  let newest = state.cursor;
  let cursor = state.cursor;
  for (;;) {
    const time = schedule.nextAfter(cursor);
    if (time === null || time + jitterOf(recordId, source, time) + lateMs >= now) break;
    count += 1;
    newest = time;
    // Beyond the limit: no earlier time can be caught up.
    cursor = count >= MISSED_MAX ? Math.max(time, now - lateMs - jitterMs - 1) : time;
  }
  return count === 0 ? null : { count, newest, cursor };
}
