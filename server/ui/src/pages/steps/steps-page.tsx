import type { StepSummary } from '@stepwright/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { Pager, usePaging } from '../../components/pager.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';

const COLUMNS: readonly Column<StepSummary>[] = [
  {
    key: 'name',
    header: 'Custom step',
    kind: 'wide',
    cell: ({ name }) => (
      <Link href={toPath('steps', name)}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    key: 'version',
    header: 'Latest version',
    kind: 'number',
    cell: ({ version }) => `v${version}`,
  },
  {
    key: 'created',
    header: 'Published',
    kind: 'time',
    cell: ({ createdAt }) => <TimeAgo time={createdAt} />,
  },
];

/** The list of custom steps. */
export function StepsPage(): ReactNode {
  const { client } = useSession();
  const paging = usePaging('steps');
  const steps = useQuery({
    queryKey: ['steps', paging.cursor ?? null],
    queryFn: ({ signal }) => client.steps.list({ limit: 50, signal }).page(paging.cursor),
    placeholderData: keepPreviousData,
  });
  const { data } = steps;
  return (
    <Page
      title="Steps"
      actions={
        <Link className="button primary" href="/new-step">
          New step
        </Link>
      }
    >
      {steps.error !== null && (
        <ProblemView error={steps.error} onRetry={() => void steps.refetch()} />
      )}
      {steps.isPending && <Loading />}
      {data?.items.length === 0 && (
        <EmptyState title="There are no custom steps yet.">
          <p>
            A custom step is a Python script that definitions use as a step type. Create one with{' '}
            <Link href="/new-step">New step</Link>, or post it to{' '}
            <code>/api/step/&lt;name&gt;</code>.
          </p>
        </EmptyState>
      )}
      {data !== undefined && data.items.length > 0 && (
        <>
          <DataTable
            label="Custom steps"
            columns={COLUMNS}
            rows={data.items}
            rowKey={({ name }) => name}
          />
          <Pager paging={paging} nextCursor={data.nextCursor} isStale={steps.isPlaceholderData} />
        </>
      )}
    </Page>
  );
}
