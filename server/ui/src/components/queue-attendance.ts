/** Whether workers attend to a queue: one rule for all pages. Pure. */
import type { ActivityQueue } from '@stepwright/sdk';

/** A worker that polled this recently is probably between two polls. */
const RECENT_MS = 60_000;

export type Attendance = 'idle' | 'polled' | 'busy' | 'nobody';

export type Attended = Pick<ActivityQueue, 'held' | 'lastPollTime' | 'pollers' | 'waiting'>;

/**
 * `polled`: a poll is waiting. `busy`: items wait, and workers are probably at work, because they do not poll meanwhile.
 * `nobody`: items wait, and nothing shows that anybody will take them. `idle`: nothing waits, and no poll.
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
