import type { Secret } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';

const COLUMNS: readonly Column<Secret>[] = [
  { key: 'name', header: 'Secret', cell: ({ name }) => <code>{name}</code> },
  {
    key: 'state',
    header: 'State',
    cell: ({ missing }) => (
      <span className={`badge ${missing ? 'bad strong' : 'good'}`}>
        {missing ? 'missing' : 'present'}
      </span>
    ),
  },
  {
    key: 'definitions',
    header: 'Used by',
    kind: 'wide',
    cell: ({ definitions }) =>
      definitions.length === 0 ? (
        <span className="none">–</span>
      ) : (
        definitions.map((id, index) => (
          <Fragment key={id}>
            {index > 0 && ', '}
            <Link href={toPath('definitions', id)}>
              <bdi>{id}</bdi>
            </Link>
          </Fragment>
        ))
      ),
  },
];

/** The names of secrets. Their values are never shown. */
export function SecretsPage(): ReactNode {
  const { client } = useSession();
  const list = useQuery({
    queryKey: ['secrets'],
    queryFn: ({ signal }) => client.secrets.list({ signal }),
    refetchInterval: useSlowPollInterval(),
  });
  return (
    <Page title="Secrets">
      {list.error !== null && (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      )}
      {list.isPending && <Loading />}
      {list.data?.length === 0 && (
        <EmptyState title="There are no secrets.">
          <p>
            The operator of the server gives it secrets, as files or variables. Definitions read
            them as <code>secrets.NAME</code>.
          </p>
        </EmptyState>
      )}
      {list.data !== undefined && list.data.length > 0 && (
        <DataTable label="Secrets" columns={COLUMNS} rows={list.data} rowKey={({ name }) => name} />
      )}
    </Page>
  );
}
