import type { WorkflowSummary } from '@stepwright/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { usePollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { Pager, usePaging } from '../../components/pager.js';
import { ProblemView } from '../../components/problem-view.js';
import { StatusBadge } from '../../components/status-badge.js';
import { TimeAgo } from '../../components/time-ago.js';

const COLUMNS: readonly Column<WorkflowSummary>[] = [
  { key: 'status', header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { key: 'id', header: 'Run', kind: 'id', cell: ({ workflowId }) => <code>{workflowId}</code> },
  {
    key: 'definition',
    header: 'Definition',
    kind: 'wide',
    cell: ({ definitionId, version }) => (
      <>
        <bdi>{definitionId}</bdi> <span className="quiet">v{version}</span>
      </>
    ),
  },
  {
    key: 'start',
    header: 'Started',
    kind: 'time',
    cell: (run) => <TimeAgo time={run.startTime} />,
  },
];

export function RunsPage(): ReactNode {
  const { client } = useSession();
  const paging = usePaging('all');
  const runs = useQuery({
    queryKey: ['workflows', paging.cursor ?? null],
    queryFn: ({ signal }) => client.workflows.list({ limit: 50, signal }).page(paging.cursor),
    placeholderData: keepPreviousData,
    refetchInterval: usePollInterval(),
  });
  return (
    <Page title="Runs">
      {runs.error !== null && (
        <ProblemView error={runs.error} onRetry={() => void runs.refetch()} />
      )}
      {runs.isPending && <Loading />}
      {runs.data?.items.length === 0 && <EmptyState title="Nothing has run yet." />}
      {runs.data !== undefined && runs.data.items.length > 0 && (
        <>
          <DataTable
            label="Runs"
            columns={COLUMNS}
            rows={runs.data.items}
            rowKey={({ workflowId }) => workflowId}
          />
          <Pager paging={paging} nextCursor={runs.data.nextCursor} />
        </>
      )}
    </Page>
  );
}
