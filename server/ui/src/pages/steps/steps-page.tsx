import type { StepSummary } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import type { Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Page } from '../../components/page.js';
import { PagedTable, usePagedQuery } from '../../components/paged-table.js';
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
  const steps = usePagedQuery({
    key: ['steps'],
    list: (options) => client.steps.list(options),
  });
  return (
    <Page
      title="Steps"
      actions={
        <Link className="button primary" href="/new-step">
          New step
        </Link>
      }
    >
      <PagedTable
        list={steps}
        label="Custom steps"
        columns={COLUMNS}
        rowKey={({ name }) => name}
        empty={<NoSteps />}
      />
    </Page>
  );
}

function NoSteps(): ReactNode {
  return (
    <EmptyState title="There are no custom steps yet.">
      <p>
        A custom step is a Python script that definitions use as a step type. Create one with{' '}
        <Link href="/new-step">New step</Link>, or post it to <code>/api/step/&lt;name&gt;</code>.
      </p>
    </EmptyState>
  );
}
