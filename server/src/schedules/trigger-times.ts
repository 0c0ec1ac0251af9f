/** The due times of triggers of stored definitions, whose expressions have been checked. */
import { LRUCache } from 'lru-cache';
import type { CronSource, TriggerDefinition } from '../engine/model/trigger.js';
import { CronSchedule, parseCronSchedule } from './cron-schedule.js';

const NEXT_TIMES = 5;

const schedules = new LRUCache<string, CronSchedule>({ max: 5000 });

/** @throws Error if this server cannot read what another one has accepted */
export function scheduleOf({ cron, timeZone }: CronSource): CronSchedule {
  const key = `${timeZone} ${cron}`;
  const known = schedules.get(key);
  if (known !== undefined) return known;
  const parsed = parseCronSchedule(cron, timeZone);
  if (!(parsed instanceof CronSchedule)) throw new Error(parsed.message);
  schedules.set(key, parsed);
  return parsed;
}

/** The next due times of a cron trigger; none of an event trigger. */
export function nextTimesOf(source: TriggerDefinition['source'], now: number): readonly number[] {
  return source.kind === 'cron' ? scheduleOf(source).next(now, NEXT_TIMES) : [];
}
