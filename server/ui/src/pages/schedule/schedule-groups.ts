/** Groups the times of the schedule as in a calendar, by day and hour, separately from triggers that fire often. */
import type { Schedule, ScheduledTrigger } from '@stepwright/sdk';
import { clockTime, dayText } from '../../components/zone-choice.js';

/** A trigger with more times in the period would hide the others. */
const RARE_TIMES_MAX = 4;

export interface ScheduledTime {
  readonly time: string;
  readonly trigger: ScheduledTrigger;
}

export interface ScheduledHour {
  /** For example `02:00`. */
  readonly hour: string;
  readonly times: readonly ScheduledTime[];
}

export interface ScheduledDay {
  readonly day: string;
  readonly hours: readonly ScheduledHour[];
}

export function isFrequent({ more, times }: ScheduledTrigger): boolean {
  return more || times.length > RARE_TIMES_MAX;
}

/** The days and hours in the page's time zone, in order, without the ones in which nothing fires. */
export function daysOf({ items }: Pick<Schedule, 'items'>): readonly ScheduledDay[] {
  const times = items
    .filter((trigger) => !isFrequent(trigger))
    .flatMap((trigger) => trigger.times.map((time) => ({ time, trigger })))
    .sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
  return groupsOf(times, ({ time }) => dayText(time)).map(([day, ofDay]) => ({
    day,
    hours: groupsOf(ofDay, ({ time }) => hourOf(time)).map(([hour, ofHour]) => ({
      hour,
      times: ofHour,
    })),
  }));
}

function hourOf(time: string): string {
  return `${clockTime(time).slice(0, 2)}:00`;
}

/** Groups neighbors with the same key, so that an hour that occurs twice stays in place. */
function groupsOf<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): readonly (readonly [key: string, items: readonly Item[]])[] {
  const groups: [string, Item[]][] = [];
  for (const item of items) {
    const key = keyOf(item);
    const last = groups.at(-1);
    if (last?.[0] === key) last[1].push(item);
    else groups.push([key, [item]]);
  }
  return groups;
}
