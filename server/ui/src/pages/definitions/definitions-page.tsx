import type { DefinitionSummary } from '@stepwright/sdk';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useLive, usePollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { Pager, usePaging } from '../../components/pager.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';

const COLUMNS: readonly Column<DefinitionSummary>[] = [
  {
    key: 'id',
    header: 'Definition',
    kind: 'wide',
    cell: ({ id }) => (
      <Link href={toPath('definitions', id)}>
        <bdi>{id}</bdi>
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
    key: 'description',
    header: 'Description',
    kind: 'wide',
    cell: ({ description }) => <bdi className="quiet">{description}</bdi>,
  },
  {
    key: 'created',
    header: 'Published',
    kind: 'time',
    cell: ({ createdAt }) => <TimeAgo time={createdAt} />,
  },
];

/** The list of definitions, each with its latest version. */
export function DefinitionsPage(): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  const paging = usePaging('definitions');
  const definitions = useQuery({
    queryKey: ['definitions', paging.cursor ?? null],
    queryFn: ({ signal }) => client.definitions.list({ limit: 50, signal }).page(paging.cursor),
    placeholderData: keepPreviousData,
    refetchInterval: usePollInterval(),
  });
  useLive(({ definitions: changed, lag }) => {
    if (changed.size > 0 || lag) void queries.invalidateQueries({ queryKey: ['definitions'] });
  });
  const { data } = definitions;
  return (
    <Page
      title="Definitions"
      actions={
        <Link className="button primary" href="/new-definition">
          New definition
        </Link>
      }
    >
      {definitions.error !== null && (
        <ProblemView error={definitions.error} onRetry={() => void definitions.refetch()} />
      )}
      {definitions.isPending && <Loading />}
      {data?.items.length === 0 && (
        <EmptyState title="There are no definitions yet.">
          <p>
            A definition lists the steps of its runs. Create one with{' '}
            <Link href="/new-definition">New definition</Link>, or post a file:
          </p>
          <pre>
            curl -H &apos;Content-Type: application/yaml&apos; --data-binary @definition.yaml{' '}
            {window.location.origin}/api/definition
          </pre>
        </EmptyState>
      )}
      {data !== undefined && data.items.length > 0 && (
        <>
          <DataTable
            label="Definitions"
            columns={COLUMNS}
            rows={data.items}
            rowKey={({ id }) => id}
          />
          <Pager
            paging={paging}
            nextCursor={data.nextCursor}
            isStale={definitions.isPlaceholderData}
          />
        </>
      )}
    </Page>
  );
}
