/** Counts failed instances that a store has read one by one. */
import { FAILURE_HOURS, HOUR_MS, type FailureCount } from './records/failures.js';

/** A failed instance. */
export interface FailedEntry extends Pick<FailureCount, 'definitionId' | 'failure' | 'status'> {
  readonly id: string;
  /** The time of its error. */
  readonly time: number;
  readonly failingSince: number | null;
}

/** @param entries the newest errors first */
export function countEntries(entries: Iterable<FailedEntry>, now: number): readonly FailureCount[] {
  const counts = new Map<string, FailureCount>();
  for (const { definitionId, failingSince, failure, id, status, time } of entries) {
    const entry = { definitionId, failure, status };
    const hoursAgo = Math.min(Math.max(Math.floor((now - time) / HOUR_MS), 0), FAILURE_HOURS);
    const name = `${failure.key} ${status} ${hoursAgo}`;
    const known = counts.get(name);
    const since = failingSince ?? time;
    counts.set(
      name,
      known === undefined
        ? { ...entry, hoursAgo, count: 1, firstAt: since, lastAt: time, example: id }
        : { ...known, count: known.count + 1, firstAt: Math.min(known.firstAt, since) },
    );
  }
  return [...counts.values()];
}
