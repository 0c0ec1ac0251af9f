/** Lists the cron triggers, over all definitions, that fire in the near future. */
import type { Clock } from '../../base/clock.js';
import { allowsName } from '../../base/allowed-names.js';
import { scheduleOf } from '../../schedules/trigger-times.js';
import type { TriggerRecord } from '../../store/records/triggers.js';
import type { Store } from '../../store/store.js';
import type { DefinitionCatalog } from '../definitions/definition-catalog.js';
import { isRegistration, readTriggerState } from '../trigger-records/trigger-state.js';
import type { Schedule, ScheduledTrigger, ScheduleRequest } from './trigger-types.js';

/** Maximum number of times listed per trigger. The cost of a request is bounded by this and the number of triggers. */
const TIMES_MAX = 24;
/** Maximum number of triggers read for a caller who may not see all of them. */
const NARROWED_MAX = 10_000;

export interface TriggerScheduleOptions {
  readonly store: Pick<Store, 'findDueTriggers' | 'getDefinition'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly catalog: Pick<DefinitionCatalog, 'find'>;
}

/** Omits triggers that are paused or whose definition is disabled: they don't fire. */
export async function readSchedule(
  options: TriggerScheduleOptions,
  { limit, periodMs, allowed }: ScheduleRequest,
): Promise<Schedule> {
  const from = options.clock.now();
  const to = from + periodMs;
  const max = allowed === 'all' ? limit + 1 : NARROWED_MAX;
  const due = await options.store.findDueTriggers(to, max);
  const found = due.filter(({ definitionId }) => allowsName(allowed, definitionId));
  const disabled = new Map<string, boolean>();
  const items: ScheduledTrigger[] = [];
  for (const record of found.slice(0, limit)) {
    const { definitionId } = record;
    const isDisabled = disabled.get(definitionId) ?? (await isResting(options, definitionId));
    disabled.set(definitionId, isDisabled);
    const item = isDisabled ? null : await scheduledOf(options, record, { from, to });
    if (item !== null) items.push(item);
  }
  items.sort((a, b) => (a.times[0] ?? 0) - (b.times[0] ?? 0));
  return { from, to, items, more: found.length > limit };
}

async function isResting(
  { store }: TriggerScheduleOptions,
  definitionId: string,
): Promise<boolean> {
  const definition = await store.getDefinition(definitionId, 'latest');
  return definition?.disabled === true;
}

async function scheduledOf(
  { catalog }: TriggerScheduleOptions,
  record: TriggerRecord,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ScheduledTrigger | null> {
  if (isRegistration(record)) return null;
  const { definitionId } = record;
  const { cursor, name, paused, version } = readTriggerState(record);
  const definition = await catalog.find(definitionId, version);
  const source = definition?.triggers.find((each) => each.name === name)?.source;
  if (paused || source?.kind !== 'cron') return null;
  const { cron, timeZone } = source;
  const next = scheduleOf(source).next(Math.max(cursor, from), TIMES_MAX + 1);
  const inside = next.filter((time) => time <= to);
  const times = inside.slice(0, TIMES_MAX);
  if (times.length === 0) return null;
  return { definitionId, name, cron, timeZone, times, more: inside.length > TIMES_MAX };
}
