import type { Notification } from '@stepwright/sdk';
import type { ReactNode } from 'react';

/** Whether a notification is active or, if not, why. */
export function NotificationState({
  notification: { paused, pausedBecause },
}: {
  readonly notification: Notification;
}): ReactNode {
  if (!paused) return <span className="badge good">active</span>;
  return (
    <>
      <span className="badge warning">paused</span>{' '}
      <span className="quiet">
        <bdi>{pausedBecause}</bdi>
      </span>
    </>
  );
}
