/** Converts triggers between host and wire. */
import type {
  BackfillRequest,
  Schedule,
  TriggerListItem,
} from '../../../runtime/triggers/trigger-types.js';
import type * as wire from '../models/trigger.js';
import { invalidMember, membersOf, refuseUnknown } from './body-members.js';
import { fromWireTime, toWireTime } from './time.js';

const BACKFILL_MEMBERS = membersOf<wire.Backfill>({ from: true, to: true });

export function toTrigger(trigger: TriggerListItem): wire.Trigger {
  const { last } = trigger;
  return {
    ...trigger,
    nextTimes: trigger.nextTimes.map(toWireTime),
    last: last === null ? null : { ...last, time: toWireTime(last.time) },
  };
}

/** @throws AppError `invalid_request` */
export function toBackfillRequest(body: wire.Backfill): BackfillRequest {
  refuseUnknown(body, BACKFILL_MEMBERS, '');
  const from = fromWireTime(body.from, 'from');
  const to = fromWireTime(body.to, 'to');
  if (from < to) return { from, to };
  throw invalidMember('to must be after from', '/to');
}

export function toSchedule({ from, to, items, more }: Schedule): wire.Schedule {
  return {
    from: toWireTime(from),
    to: toWireTime(to),
    items: items.map((item) => ({ ...item, times: item.times.map(toWireTime) })),
    more,
  };
}
