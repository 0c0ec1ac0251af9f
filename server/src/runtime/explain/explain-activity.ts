/** Explains which worker holds an activity, or why none does. */
import { FAR_FUTURE_MS } from '../../store/store.js';
import type { Polling } from '../fleet/node-types.js';
import type { PointerFacts, WaitReason } from './explanation.js';
import { plainDuration } from './plain-duration.js';

/** A worker that polled this recently is probably still active. */
const RECENT_MS = 60_000;

type Said = Pick<WaitReason, 'text' | 'worker' | 'queue'>;

export function explainActivity(
  known: Extract<PointerFacts, { kind: 'activity' }> | null,
  now: number,
): Said {
  if (known?.record == null) return { text: 'is about to be offered to workers' };
  const { polling: queue, record } = known;
  if (record.done) return { text: 'its result has arrived and is being applied' };
  if (record.tokenHash === null) {
    if (record.availableAt <= now) return { text: sayPolling(queue, now), queue };
    const after = plainDuration(record.availableAt - now);
    return {
      text: `was deferred while the run was suspended; offered again in ${after}`,
      queue,
    };
  }
  const workerId = record.workerId === null || record.workerId === '' ? null : record.workerId;
  const holder = workerId === null ? 'an unnamed worker' : `worker ${workerId}`;
  if (record.availableAt >= FAR_FUTURE_MS) {
    const worker = { workerId: workerId ?? '', leaseUntil: null };
    return { text: `held by ${holder}, without a lease`, worker };
  }
  if (record.availableAt > now) {
    const worker = { workerId: workerId ?? '', leaseUntil: record.availableAt };
    const left = plainDuration(record.availableAt - now);
    return { text: `held by ${holder}, whose lease ends in ${left}`, worker };
  }
  const over = plainDuration(now - record.availableAt);
  return { text: `the lease of ${holder} ended ${over} ago; ${sayPolling(queue, now)}`, queue };
}

function sayPolling({ lastPollTime, pollers }: Polling, now: number): string {
  if (pollers === 1) return 'waiting for the worker that polls for it';
  if (pollers > 1) return `waiting for one of the ${pollers} workers that poll for it`;
  if (lastPollTime === null) return 'no worker has polled for it since the nodes started';
  const since = plainDuration(now - lastPollTime);
  // Workers don't poll while they work, or between two polls.
  return now - lastPollTime < RECENT_MS
    ? `waiting for a worker to poll for it; the last poll was ${since} ago`
    : `no worker has polled for it for ${since}`;
}
