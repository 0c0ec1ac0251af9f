import type { ActivityQueue, ServerWorker } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { attendanceOf } from '../../components/queue-attendance.js';
import { TimeAgo, useNow } from '../../components/time-ago.js';
import {
  HeldSince,
  WorkerActivities,
  WorkerLink,
  workerName,
  WorkerOrigin,
  WorkerState,
} from './worker-cells.js';
import './workers.css';

const WORKERS_MAX = 200;
/** Items shown in the row of a worker; its page shows more. */
const ITEMS_MAX = 3;

const COLUMNS: readonly Column<ServerWorker>[] = [
  {
    key: 'worker',
    header: 'Worker',
    kind: 'wide',
    cell: (worker) => (
      <>
        <WorkerLink worker={worker} />
        <br />
        <WorkerOrigin worker={worker} />
      </>
    ),
  },
  { key: 'state', header: 'State', cell: (worker) => <WorkerState worker={worker} /> },
  {
    key: 'activities',
    header: 'Activities',
    cell: (worker) => <WorkerActivities {...{ worker }} />,
  },
  {
    key: 'poll',
    header: 'Last poll',
    kind: 'time',
    cell: ({ lastPollTime }) => <TimeAgo time={lastPollTime} />,
  },
  { key: 'holds', header: 'Holds', kind: 'wide', cell: (worker) => <Holds worker={worker} /> },
];

/** The workers of all nodes, and the queues without pollers. */
export function WorkersPage(): ReactNode {
  const { client } = useSession();
  const refetchInterval = useSlowPollInterval();
  const workers = useQuery({
    queryKey: ['workers'],
    queryFn: ({ signal }) => client.workers.list({ limit: WORKERS_MAX, signal }),
    refetchInterval,
  });
  const queues = useQuery({
    queryKey: ['activity queues'],
    queryFn: ({ signal }) => client.activities.queues({ signal }),
    refetchInterval,
  });
  const reread = (): void => {
    void workers.refetch();
    void queues.refetch();
  };
  useRereadOnChange(reread);
  const error = workers.error ?? queues.error;
  return (
    <Page title="Workers">
      {error !== null && <ProblemView error={error} onRetry={reread} />}
      {workers.isPending && <Loading />}
      {queues.data !== undefined && <Unattended queues={queues.data} />}
      {workers.data?.items.length === 0 && (
        <EmptyState title="No worker has polled in the last 24 hours.">
          <p>
            Workers ask for work with <code>GET /api/activity/&lt;name&gt;</code>, or with the
            worker SDK.
          </p>
        </EmptyState>
      )}
      {workers.data !== undefined && workers.data.items.length > 0 && (
        <>
          <DataTable
            label="Workers"
            columns={COLUMNS}
            rows={workers.data.items}
            rowKey={workerName}
          />
          <p className="hint">
            {workers.data.count} {workers.data.count === 1 ? 'worker' : 'workers'}
            {workers.data.count > workers.data.items.length &&
              `, of which the page shows ${workers.data.items.length}`}
            {!workers.data.exact && '; not all held items were looked at'}
          </p>
        </>
      )}
    </Page>
  );
}

/** Queues whose items probably have no worker. */
function Unattended({ queues }: { readonly queues: readonly ActivityQueue[] }): ReactNode {
  const nowMs = useNow();
  const unattended = queues.filter((queue) => attendanceOf(queue, nowMs) === 'nobody');
  if (unattended.length === 0) return null;
  return (
    <section className="finding warning unattended" aria-labelledby="unattended">
      <h2 id="unattended">Queues without an idle worker</h2>
      <ul>
        {unattended.map(({ activityName, waiting, oldestTime, lastPollTime }) => (
          <li key={activityName}>
            <Link href={toPath('activities', activityName)}>
              <bdi>{activityName}</bdi>
            </Link>
            : {waiting.toLocaleString('en')} waiting, the oldest offered{' '}
            <TimeAgo time={oldestTime} />; no idle worker;{' '}
            {lastPollTime === null ? (
              'never polled'
            ) : (
              <>
                last polled <TimeAgo time={lastPollTime} />
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Holds({ worker }: { readonly worker: ServerWorker }): ReactNode {
  const { held, items } = worker;
  if (held === 0) return <span className="none">nothing</span>;
  return (
    <ul className="worker-items">
      {items.slice(0, ITEMS_MAX).map((item) => (
        <li key={`${item.workflowId} ${item.executionId}`}>
          <Link href={toPath('runs', item.workflowId)}>
            <code>{item.workflowId}</code>
          </Link>{' '}
          <span className="quiet">
            taken <HeldSince item={item} />
          </span>
        </li>
      ))}
      {held > ITEMS_MAX && <li>and {held - ITEMS_MAX} more</li>}
    </ul>
  );
}
