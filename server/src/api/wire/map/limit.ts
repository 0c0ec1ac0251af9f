/** Converts limits between host and wire. */
import { checkedPathName } from './name.js';
import type * as host from '../../../runtime/limits/limit-types.js';
import type * as wire from '../models/limit.js';
import { toWireTime, toWireTimeOrNull } from './time.js';

/** @throws AppError `invalid_request` */
export function checkedLimitName(name: string): string {
  return checkedPathName(name, 'name of the limit');
}

export function toLimit(limit: host.LimitView): wire.Limit {
  const { concurrency, createdBy, description, held, keys, name, rate, updatedAt, waiting } = limit;
  return {
    name,
    description,
    concurrency,
    rate: rate === null ? null : { count: rate.count, per: rate.per, burst: rate.burst },
    held,
    waiting,
    keys: keys.map(({ oldestWaitSince, ...key }) => ({
      ...key,
      oldestWaitSince: toWireTimeOrNull(oldestWaitSince),
    })),
    createdBy,
    updatedAt: toWireTime(updatedAt),
  };
}
