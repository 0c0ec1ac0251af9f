import type { ReactNode } from 'react';
import { attendanceOf, type Attended } from './queue-attendance.js';
import { TimeAgo, useNow } from './time-ago.js';

/** Shows whether workers attend to a queue. Operators look for items without pollers. */
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
