import type { ActivityQueue } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { ACTIVITY_COLUMN, WAITING_COLUMNS } from '../../components/queue-columns.js';
import { QueueWorkers } from '../../components/queue-workers.js';

const COLUMNS: readonly Column<ActivityQueue>[] = [
  ACTIVITY_COLUMN,
  ...WAITING_COLUMNS,
  { key: 'held', header: 'Held', kind: 'number', cell: ({ held }) => held },
  { key: 'workers', header: 'Workers', kind: 'wide', cell: (queue) => <QueueWorkers {...queue} /> },
];

/** The work item queues: the number and age of their items, and whether workers poll for them. */
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
