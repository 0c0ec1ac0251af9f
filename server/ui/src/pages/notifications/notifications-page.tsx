import type { Notification } from '@stepwright/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';
import { NotificationForm } from './notification-form.js';
import { NotificationState } from './notification-state.js';
import './notifications.css';

const COLUMNS: readonly Column<Notification>[] = [
  {
    key: 'name',
    header: 'Notification',
    cell: ({ name }) => (
      <Link href={toPath('notifications', name)}>
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    key: 'state',
    header: 'State',
    cell: (notification) => <NotificationState notification={notification} />,
  },
  { key: 'on', header: 'Tells', cell: ({ on }) => on.join(', ') },
  {
    key: 'definition',
    header: 'Definition',
    cell: ({ definitionId }) =>
      definitionId === null ? <span className="quiet">all</span> : <bdi>{definitionId}</bdi>,
  },
  { key: 'url', header: 'Target', kind: 'wide', cell: ({ url }) => <bdi>{url}</bdi> },
  {
    key: 'changed',
    header: 'Changed',
    kind: 'time',
    cell: ({ changedTime }) => <TimeAgo time={changedTime} />,
  },
];

/** The list of notifications. */
export function NotificationsPage(): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  const [isCreating, setCreating] = useState(false);
  const list = useQuery({
    queryKey: ['notifications'],
    queryFn: ({ signal }) => client.notifications.list({ signal }),
    refetchInterval: useSlowPollInterval(),
  });
  return (
    <Page
      title="Notifications"
      actions={
        <Button variant="primary" needs="author" onPress={() => setCreating(true)}>
          New notification
        </Button>
      }
    >
      {list.error !== null && (
        <ProblemView error={list.error} onRetry={() => void list.refetch()} />
      )}
      {list.isPending && <Loading />}
      {list.data?.length === 0 && (
        <EmptyState title="There are no notifications.">
          <p>A notification sends signed messages to your own server when runs change.</p>
        </EmptyState>
      )}
      {list.data !== undefined && list.data.length > 0 && (
        <DataTable
          label="Notifications"
          columns={COLUMNS}
          rows={list.data}
          rowKey={({ name }) => name}
        />
      )}
      {isCreating && (
        <NotificationForm
          existing={null}
          onStored={() => void queries.invalidateQueries({ queryKey: ['notifications'] })}
          onClose={() => setCreating(false)}
        />
      )}
    </Page>
  );
}
