/** Whether workers attend to a queue: one rule for all pages. */
import type { ActivityQueue } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { TimeAgo, useNow } from './time-ago.js';

/** A worker that polled this recently is probably between two polls. */
const RECENT_MS = 60_000;

export type Attendance = 'idle' | 'polled' | 'busy' | 'nobody';

type Attended = Pick<ActivityQueue, 'held' | 'lastPollTime' | 'pollers' | 'waiting'>;

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

/** Items that no worker polls for are what an operator looks for. */
export function QueueWorkers(queue: Attended): ReactNode {
  const { lastPollTime, pollers } = queue;
  const attendance = attendanceOf(queue, useNow());
  if (attendance === 'polled') {
    return (
      <span className="badge good">
        {pollers} {pollers === 1 ? 'poll' : 'polls'} waiting
      </span>
    );
  }
  return (
    <>
      {attendance !== 'idle' && (
        <span className={`badge ${attendance === 'busy' ? 'idle' : 'warning'}`}>
          no idle worker
        </span>
      )}{' '}
      <span className="quiet">
        {lastPollTime === null ? (
          'never polled'
        ) : (
          <>
            last polled <TimeAgo time={lastPollTime} />
          </>
        )}
      </span>
    </>
  );
}
