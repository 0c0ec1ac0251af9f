import type { DefinitionSummary } from '@stepwright/sdk';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useLive, usePollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import type { Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Page } from '../../components/page.js';
import { PagedTable, usePagedQuery } from '../../components/paged-table.js';
import { TimeAgo } from '../../components/time-ago.js';

const COLUMNS: readonly Column<DefinitionSummary>[] = [
  {
    key: 'id',
    header: 'Definition',
    kind: 'wide',
    cell: ({ disabled, id }) => (
      <>
        <Link href={toPath('definitions', id)}>
          <bdi>{id}</bdi>
        </Link>{' '}
        {disabled && <span className="badge warning">disabled</span>}
      </>
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
  const definitions = usePagedQuery({
    key: ['definitions'],
    list: (options) => client.definitions.list(options),
    refetchInterval: usePollInterval(),
  });
  useLive(({ definitions: changed, lag }) => {
    if (changed.size > 0 || lag) void queries.invalidateQueries({ queryKey: ['definitions'] });
  });
  return (
    <Page
      title="Definitions"
      actions={
        <Link className="button primary" href="/new-definition">
          New definition
        </Link>
      }
    >
      <PagedTable
        list={definitions}
        label="Definitions"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={<NoDefinitions />}
      />
    </Page>
  );
}

function NoDefinitions(): ReactNode {
  return (
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
  );
}
