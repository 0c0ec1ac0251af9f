import type { Limit } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import type { Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Page } from '../../components/page.js';
import { PagedTable, usePagedQuery } from '../../components/paged-table.js';
import { TextCell } from '../../components/text-cell.js';
import { TimeAgo } from '../../components/time-ago.js';
import { LimitForm } from './limit-form.js';
import { settingsInWords } from './limit-settings.js';
import { LimitUse, oldestWaitOf } from './limit-use.js';
import './limits.css';

const COLUMNS: readonly Column<Limit>[] = [
  {
    key: 'name',
    header: 'Limit',
    cell: ({ name }) => (
      <Link href={toPath('limits', name)}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    key: 'description',
    header: 'Description',
    kind: 'wide',
    cell: ({ description }) => <TextCell text={description ?? ''} />,
  },
  { key: 'allows', header: 'Allows', cell: settingsInWords },
  { key: 'held', header: 'Held', cell: (limit) => <LimitUse limit={limit} /> },
  {
    key: 'waiting',
    header: 'Waiting',
    kind: 'number',
    cell: ({ waiting }) => waiting.toLocaleString('en'),
  },
  {
    key: 'oldest',
    header: 'Oldest wait',
    kind: 'time',
    cell: (limit) => <TimeAgo time={oldestWaitOf(limit)} />,
  },
];

/** The limits that steps of any definition share, and how much of each is used. */
export function LimitsPage(): ReactNode {
  const { client } = useSession();
  const [, navigate] = useLocation();
  const [isAdding, setAdding] = useState(false);
  const list = usePagedQuery({
    key: ['limits'],
    list: (options) => client.limits.list(options),
    refetchInterval: useSlowPollInterval(),
  });
  useRereadOnChange(list.refetch);
  return (
    <Page
      title="Limits"
      actions={
        <Button variant="primary" needs="author" onPress={() => setAdding(true)}>
          New limit
        </Button>
      }
    >
      <PagedTable
        list={list}
        label="Limits"
        columns={COLUMNS}
        rowKey={({ name }) => name}
        empty={
          <EmptyState title="There are no limits.">
            <p>
              A limit says how many steps work at a time, or how often they begin. Steps of any
              definition name it in <code>Limits</code>.
            </p>
          </EmptyState>
        }
      />
      {isAdding && (
        <LimitForm
          existing={null}
          onStored={({ name }) => navigate(toPath('limits', name))}
          onClose={() => setAdding(false)}
        />
      )}
    </Page>
  );
}
