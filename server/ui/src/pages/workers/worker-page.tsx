import type { ServerWorker } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import {
  DEFINITION_COLUMN,
  EXECUTION_COLUMN,
  REFERENCE_COLUMN,
  RUN_COLUMN,
} from '../../components/execution-columns.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { ACTIVITY_COLUMN } from '../../components/queue-columns.js';
import { TimeAgo } from '../../components/time-ago.js';
import { HeldSince, WorkerOrigin, WorkerState } from './worker-cells.js';
import './workers.css';

type HeldItem = ServerWorker['items'][number];
type WorkerActivity = ServerWorker['activities'][number];

const ITEM_COLUMNS: readonly Column<HeldItem>[] = [
  ACTIVITY_COLUMN,
  RUN_COLUMN,
  DEFINITION_COLUMN,
  REFERENCE_COLUMN,
  EXECUTION_COLUMN,
  { key: 'attempt', header: 'Delivery', kind: 'number', cell: ({ attempt }) => attempt },
  { key: 'since', header: 'Held since', kind: 'time', cell: (item) => <HeldSince item={item} /> },
  {
    key: 'lease',
    header: 'Lease ends',
    kind: 'time',
    cell: ({ leaseUntil }) => (leaseUntil === null ? 'never' : <TimeAgo time={leaseUntil} />),
  },
];

const ACTIVITY_COLUMNS: readonly Column<WorkerActivity>[] = [
  ACTIVITY_COLUMN,
  { key: 'polling', header: 'Polls waiting', kind: 'number', cell: ({ polling }) => polling },
  {
    key: 'last',
    header: 'Last poll',
    kind: 'time',
    cell: ({ lastPollTime }) => <TimeAgo time={lastPollTime} />,
  },
];

/** One worker, with the queues it polls and the items it holds. */
export function WorkerPage({ workerId }: { readonly workerId: string }): ReactNode {
  const { client } = useSession();
  const found = useQuery({
    queryKey: ['workers', workerId],
    queryFn: async ({ signal }) => (await client.workers.list({ workerId, signal })).items,
    refetchInterval: useSlowPollInterval(),
  });
  useRereadOnChange(() => void found.refetch());
  const { data, error } = found;
  const [worker] = data ?? [];
  return (
    <Page title={workerId} heading={<bdi className="worker-name">{workerId}</bdi>}>
      <p>
        <Link href="/workers">All workers</Link>
      </p>
      {error !== null && <ProblemView error={error} onRetry={() => void found.refetch()} />}
      {found.isPending && <Loading />}
      {data?.length === 0 && (
        <EmptyState title="No worker has this id.">
          <p>It has not polled in the last 24 hours and holds no work items.</p>
        </EmptyState>
      )}
      {worker !== undefined && <Details worker={worker} />}
    </Page>
  );
}

function Details({ worker }: { readonly worker: ServerWorker }): ReactNode {
  const { items, held, activities, lastPollTime } = worker;
  return (
    <>
      <p>
        <WorkerState worker={worker} /> <WorkerOrigin worker={worker} />
        {lastPollTime !== null && (
          <>
            {' '}
            · last poll <TimeAgo time={lastPollTime} />
          </>
        )}
      </p>
      <h2>Held work items</h2>
      {items.length === 0 ? (
        <p className="quiet">None.</p>
      ) : (
        <DataTable
          label="Held work items"
          columns={ITEM_COLUMNS}
          rows={items}
          rowKey={({ workflowId, executionId }) => `${workflowId} ${executionId}`}
        />
      )}
      {held > items.length && (
        <p className="hint">
          The first {items.length} of {held.toLocaleString('en')} items.
        </p>
      )}
      {activities.length > 0 && (
        <>
          <h2>Polled activities</h2>
          <DataTable
            label="Activities of this worker"
            columns={ACTIVITY_COLUMNS}
            rows={activities}
            rowKey={({ activityName }) => activityName}
          />
        </>
      )}
    </>
  );
}
