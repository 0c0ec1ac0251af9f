/** Converts events between host and wire. */
import { EVENT_KEY_LENGTH_MAX } from '../../../engine/values/names.js';
import { AppError } from '../../../base/errors.js';
import type { EventName } from '../../../runtime/events/event-types.js';
import type * as host from '../../../runtime/events/event-types.js';
import type * as wire from '../models/event.js';
import { checkedPathName } from './name.js';
import { toWireTime } from './time.js';

/** @throws AppError `invalid_request` */
export function checkedEventName(name: string, key: string): EventName {
  return {
    name: checkedPathName(name, 'event name'),
    key: checkedPathName(key, 'event key', EVENT_KEY_LENGTH_MAX),
  };
}

/** Null: all events. @throws AppError `invalid_request` */
export function toEventFilter(name: string | undefined, key: string | undefined): EventName | null {
  if (name === undefined && key === undefined) return null;
  if (name !== undefined && key !== undefined) return checkedEventName(name, key);
  const missing = name === undefined ? 'name' : 'key';
  throw new AppError('invalid_request', 'Give both name and key, or neither', {
    parameter: missing,
  });
}

export function toEventSummary(event: host.EventView): wire.EventSummary {
  const { data, dataOmitted, deliveredTo, id, key, name, publishTime, takenBy } = event;
  return {
    id,
    name,
    key,
    data,
    dataOmitted,
    publishTime: toWireTime(publishTime),
    deliveredTo,
    takenBy: [...takenBy],
  };
}

export function toStoredEvent(event: host.StoredEventView): wire.StoredEvent {
  return { ...event, publishTime: toWireTime(event.publishTime) };
}

export function toEventWaiter(waiter: host.EventWaiterView): wire.EventWaiter {
  const { executionId, since, workflowId } = waiter;
  return { workflowId, executionId, since: toWireTime(since) };
}
