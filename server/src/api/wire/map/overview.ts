/** Converts the overview to its wire type. */
import { HOUR_MS, MINUTE_MS, type RunBucket } from '../../../runtime/fleet/run-history.js';
import type { OverviewView } from '../../../runtime/operations/overview-queries.js';
import type * as wire from '../models/overview.js';
import { toActivityQueue } from './activity.js';
import { toWireTime } from './time.js';

export function toOverview(view: OverviewView): wire.Overview {
  const { byStatus, definitions, definitionsExact, hours, minutes, nodes, queues } = view;
  return {
    time: toWireTime(view.time),
    countedSince: toWireTime(view.countedSince),
    runs: byStatus === null ? null : toStatusCounts(byStatus),
    runsTime: toWireTime(view.byStatusTime),
    definitions: definitions.map((each) => ({ ...each })),
    definitionsExact,
    lastHour: minutes.map((bucket) => toBucket(bucket, MINUTE_MS)),
    lastDay: hours.map((bucket) => toBucket(bucket, HOUR_MS)),
    queues: queues.map(toActivityQueue),
    unattendedQueues: view.unattendedQueues,
    nodes: { ...nodes },
  };
}

function toStatusCounts(counts: NonNullable<OverviewView['byStatus']>): wire.StatusCounts {
  return {
    runnable: counts.Runnable,
    suspended: counts.Suspended,
    complete: counts.Complete,
    terminated: counts.Terminated,
  };
}

function toBucket(bucket: RunBucket, unitMs: number): wire.OverviewBucket {
  const { at, failed, longestMs, started, stopped, succeeded, totalMs } = bucket;
  const ended = succeeded + failed + stopped;
  return {
    from: toWireTime(at * unitMs),
    started,
    succeeded,
    failed,
    stopped,
    meanMs: ended === 0 ? null : totalMs / ended,
    longestMs: ended === 0 ? null : longestMs,
  };
}
