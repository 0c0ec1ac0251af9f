/** Converts groups of failures between host and wire. */
import {
  countOf,
  type FailureGroup,
  type FailureList,
  type FailureListRequest,
} from '../../../runtime/operations/failure-queries.js';
import { parseConditions } from '../../../runtime/model/parse-condition.js';
import type * as wire from '../models/failure.js';
import { fromWireTime, toWireTime } from './time.js';

const LIMIT_DEFAULT = 20;

/** @throws AppError `invalid_request` */
export function toFailureRequest(query: wire.FailureQuery): FailureListRequest {
  const { definitionId, failedFrom, failedTo, limit, order, status, where } = query;
  return {
    ...(definitionId !== undefined && { definitionId }),
    ...(status !== undefined && { status }),
    ...(failedFrom !== undefined && { failedFrom: fromWireTime(failedFrom, 'failedFrom') }),
    ...(failedTo !== undefined && { failedTo: fromWireTime(failedTo, 'failedTo') }),
    ...(where !== undefined && where.length > 0 && { where: parseConditions(where) }),
    order: order ?? 'count',
    limit: limit ?? LIMIT_DEFAULT,
  };
}

export function toFailureGroups({ items, ...numbers }: FailureList): wire.FailureGroups {
  return { items: items.map(toFailureGroup), ...numbers };
}

function toFailureGroup({ firstTime, lastTime, trend, ...group }: FailureGroup): wire.FailureGroup {
  return {
    ...group,
    count: countOf(group),
    firstTime: toWireTime(firstTime),
    lastTime: toWireTime(lastTime),
    trend: [...trend],
  };
}
