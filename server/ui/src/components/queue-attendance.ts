/** Whether workers attend to a queue, by the same rule on all pages. Pure. */
import type { ActivityQueue } from '@stepwright/sdk';

/** A worker that has polled this recently is probably between two polls. */
const RECENT_MS = 60_000;

export type Attendance = 'idle' | 'polled' | 'busy' | 'nobody';

export type Attended = Pick<ActivityQueue, 'held' | 'lastPollTime' | 'pollers' | 'waiting'>;

/**
 * `polled`: a poll is waiting. `busy`: items are waiting, and workers are probably at work, since they don't poll then. `nobody`:
 * items are waiting, with no sign of a worker. `idle`: neither items nor polls are waiting.
 */
export function attendanceOf(
  { held, lastPollTime, pollers, waiting }: Attended,
  nowMs: number,
): Attendance {
  if (pollers > 0) return 'polled';
  if (waiting === 0) return 'idle';
  const isRecent = lastPollTime !== null && nowMs - Date.parse(lastPollTime) < RECENT_MS;
  return held > 0 || isRecent ? 'busy' : 'nobody';
}
