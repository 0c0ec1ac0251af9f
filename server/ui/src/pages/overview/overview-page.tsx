import type { Overview } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useLiveState } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { ACTIVITY_COLUMN, WAITING_COLUMNS } from '../../components/queue-columns.js';
import { attendanceOf } from '../../components/queue-attendance.js';
import { QueueWorkers } from '../../components/queue-workers.js';
import { TimeAgo } from '../../components/time-ago.js';
import { runsPath, WITH_CHILDREN } from '../runs/run-filter.js';
import { RunCharts } from './run-charts.js';
import './overview.css';

const REFRESH_MS = 5000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const OPEN_RUNS_MAX = 1000;

type OpenRuns = Overview['definitions'][number];
type Queue = Overview['queues'][number];

/** The state of the whole server at a glance, with links to everything that needs attention. */
export function OverviewPage(): ReactNode {
  const { client } = useSession();
  const overview = useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => client.overview({ signal }),
    refetchInterval: useLiveState() === 'refused' ? false : REFRESH_MS,
  });
  const { data, error } = overview;
  // The server has no totals for callers who may only see some definitions.
  const isWhole = data !== undefined && data.lastHour.length > 0;
  return (
    <Page title="Overview">
      {error !== null && <ProblemView error={error} onRetry={() => void overview.refetch()} />}
      {overview.isPending && <Loading />}
      {data !== undefined && (
        <>
          {isWhole && (
            <>
              <Tiles overview={data} />
              <RunCharts
                period="hour"
                buckets={data.lastHour}
                countedSince={countedIn(HOUR_MS, data)}
              />
              <RunCharts
                period="day"
                buckets={data.lastDay}
                countedSince={countedIn(DAY_MS, data)}
              />
              <p className="hint">
                The charts count all runs, also child runs, in the memory of the nodes. What a node
                has counted is lost when it stops.
              </p>
            </>
          )}
          <OpenByDefinition overview={data} />
          {isWhole && <WaitingWork overview={data} />}
        </>
      )}
    </Page>
  );
}

function Tiles({ overview }: { readonly overview: Overview }): ReactNode {
  const { runs, runsTime, time, nodes, queues, unattendedQueues } = overview;
  const statusPath = (status: string): string => runsPath({ status, parent: WITH_CHILDREN });
  const isUnattended = queues.some((queue) => attendanceOf(queue, Date.parse(time)) === 'nobody');
  const isOld = Date.parse(time) - Date.parse(runsTime) > 10_000;
  return (
    <>
      <ul className="overview-tiles" aria-label="Numbers">
        {runs === null ? (
          <li className="tile">The runs cannot be counted now.</li>
        ) : (
          <>
            <Tile label="running or waiting" count={runs.runnable} href={statusPath('Runnable')} />
            <Tile
              label="suspended"
              count={runs.suspended}
              href={statusPath('Suspended')}
              tone={runs.suspended > 0 ? 'warning' : ''}
            />
            <Tile label="complete" count={runs.complete} href={statusPath('Complete')} />
            <Tile label="terminated" count={runs.terminated} href={statusPath('Terminated')} />
          </>
        )}
        <Tile
          label={`${unattendedQueues === 1 ? 'queue' : 'queues'} without an idle worker`}
          count={unattendedQueues}
          href="/workers"
          tone={isUnattended ? 'warning' : ''}
        />
        <Tile
          label={nodesLabel(nodes)}
          count={nodes.alive}
          href="/nodes"
          tone={nodes.dead > 0 ? 'bad' : ''}
        />
      </ul>
      {isOld && (
        <p className="hint">
          The runs by status were counted <TimeAgo time={runsTime} />.
        </p>
      )}
    </>
  );
}

function nodesLabel({ alive, dead }: Overview['nodes']): string {
  const label = `${alive === 1 ? 'node' : 'nodes'} alive`;
  return dead > 0 ? `${label}, ${dead} presumed dead` : label;
}

function Tile({
  label,
  count,
  href,
  tone = '',
}: {
  readonly label: string;
  readonly count: number;
  readonly href: string;
  readonly tone?: string;
}): ReactNode {
  return (
    <li className={`tile ${tone}`}>
      <Link href={href}>
        <strong>{count.toLocaleString('en')}</strong> {label}
      </Link>
    </li>
  );
}

/** The charts begin when the nodes started. */
/** Null if the nodes have counted during the whole period. */
function countedIn(periodMs: number, { countedSince, time }: Overview): string | null {
  return Date.parse(time) - Date.parse(countedSince) < periodMs ? countedSince : null;
}

const DEFINITION_COLUMNS: readonly Column<OpenRuns>[] = [
  {
    key: 'definition',
    header: 'Definition',
    kind: 'wide',
    cell: ({ definitionId }) => (
      <Link href={toPath('definitions', definitionId)}>
        <bdi>{definitionId}</bdi>
      </Link>
    ),
  },
  {
    key: 'runnable',
    header: 'Running or waiting',
    kind: 'number',
    cell: ({ definitionId, runnable }) => (
      <OpenLink status="Runnable" count={runnable} definitionId={definitionId} />
    ),
  },
  {
    key: 'suspended',
    header: 'Suspended',
    kind: 'number',
    cell: ({ definitionId, suspended }) => (
      <OpenLink status="Suspended" count={suspended} definitionId={definitionId} />
    ),
  },
];

function OpenLink({
  status,
  count,
  definitionId,
}: {
  readonly status: string;
  readonly count: number;
  readonly definitionId: string;
}): ReactNode {
  if (count === 0) return 0;
  const filter = { status, definitionId, parent: WITH_CHILDREN };
  return (
    <Link href={runsPath(filter)} aria-label={`${count} ${status} runs of ${definitionId}`}>
      {count.toLocaleString('en')}
      {count >= OPEN_RUNS_MAX && '+'}
    </Link>
  );
}

function OpenByDefinition({
  overview: { definitions, definitionsExact },
}: {
  readonly overview: Overview;
}): ReactNode {
  return (
    <section aria-labelledby="open-runs">
      <h2 id="open-runs">Open runs by definition</h2>
      {definitions.length === 0 ? (
        <p className="quiet">No run is open.</p>
      ) : (
        <DataTable
          label="Open runs by definition"
          columns={DEFINITION_COLUMNS}
          rows={definitions}
          rowKey={({ definitionId }) => definitionId}
        />
      )}
      {!definitionsExact && <p className="hint">Not all definitions were looked at.</p>}
    </section>
  );
}

const QUEUE_COLUMNS: readonly Column<Queue>[] = [
  ACTIVITY_COLUMN,
  ...WAITING_COLUMNS,
  {
    key: 'workers',
    header: 'Workers',
    kind: 'wide',
    cell: (queue) => <QueueWorkers {...queue} />,
  },
];

function WaitingWork({ overview: { queues } }: { readonly overview: Overview }): ReactNode {
  return (
    <section aria-labelledby="oldest-work">
      <h2 id="oldest-work">Oldest waiting work</h2>
      {queues.length === 0 ? (
        <p className="quiet">No work item is waiting for a worker.</p>
      ) : (
        <DataTable
          label="Oldest waiting work"
          columns={QUEUE_COLUMNS}
          rows={queues}
          rowKey={({ activityName }) => activityName}
        />
      )}
    </section>
  );
}
