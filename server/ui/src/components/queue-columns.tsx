/** The columns of tables about the queues of work items. */
import type { ActivityQueue } from '@stepwright/sdk';
import { Link } from 'wouter';
import { toPath } from '../app/path.js';
import type { Column } from './data-table.js';
import { TimeAgo } from './time-ago.js';

export const ACTIVITY_COLUMN: Column<{ readonly activityName: string }> = {
  key: 'activity',
  header: 'Activity',
  kind: 'wide',
  cell: ({ activityName }) => (
    <Link href={toPath('activities', activityName)}>
      <bdi>{activityName}</bdi>
    </Link>
  ),
};

/** How much work is waiting in a queue, and since when. */
export const WAITING_COLUMNS: readonly Column<Pick<ActivityQueue, 'waiting' | 'oldestTime'>>[] = [
  { key: 'waiting', header: 'Waiting', kind: 'number', cell: ({ waiting }) => waiting },
  {
    key: 'oldest',
    header: 'Oldest',
    kind: 'time',
    cell: ({ oldestTime }) => <TimeAgo time={oldestTime} />,
  },
];
