import type { ActivityQueue } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';

const COLUMNS: readonly Column<ActivityQueue>[] = [
  {
    key: 'name',
    header: 'Activity',
    kind: 'wide',
    cell: ({ activityName }) => (
      <Link href={toPath('activities', activityName)}>
        <bdi>{activityName}</bdi>
      </Link>
    ),
  },
  { key: 'waiting', header: 'Waiting', kind: 'number', cell: ({ waiting }) => waiting },
  {
    key: 'oldest',
    header: 'Oldest',
    kind: 'time',
    cell: ({ oldestTime }) => <TimeAgo time={oldestTime} />,
  },
  { key: 'held', header: 'Held', kind: 'number', cell: ({ held }) => held },
  { key: 'workers', header: 'Workers', kind: 'wide', cell: (queue) => <Workers {...queue} /> },
];

/** The queues of work items: how many items, how old they are, and whether a worker polls for them. */
export function ActivitiesPage(): ReactNode {
  const { client } = useSession();
  const queues = useQuery({
    queryKey: ['activity queues'],
    queryFn: ({ signal }) => client.activities.queues({ signal }),
    refetchInterval: useSlowPollInterval(),
  });
  useRereadOnChange(() => void queues.refetch());
  const { data, error } = queues;
  return (
    <Page title="Activities">
      {error !== null && <ProblemView error={error} onRetry={() => void queues.refetch()} />}
      {queues.isPending && <Loading />}
      {data?.length === 0 && (
        <EmptyState title="No work is waiting.">
          <p>
            Activity steps offer work items here, and workers claim them with{' '}
            <code>GET /api/activity/&lt;name&gt;</code>.
          </p>
        </EmptyState>
      )}
      {data !== undefined && data.length > 0 && (
        <DataTable
          label="Queues"
          columns={COLUMNS}
          rows={data}
          rowKey={({ activityName }) => activityName}
        />
      )}
    </Page>
  );
}

/** Whether a worker polls the queue. Items that no worker polls for are what an operator looks for. */
function Workers({ pollers, lastPollTime, waiting }: ActivityQueue): ReactNode {
  if (pollers > 0) {
    return (
      <span className="badge good">
        {pollers} {pollers === 1 ? 'poll' : 'polls'} waiting
      </span>
    );
  }
  return (
    <>
      {waiting > 0 && <span className="badge warning">no idle worker</span>}{' '}
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
