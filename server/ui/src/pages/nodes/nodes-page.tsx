import type { ServerNode } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLiveState } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';

const COLUMNS: readonly Column<ServerNode>[] = [
  {
    key: 'state',
    header: 'State',
    cell: ({ alive }) => (
      <span className={`badge ${alive ? 'good' : 'bad'}`}>{alive ? 'alive' : 'presumed dead'}</span>
    ),
  },
  {
    key: 'node',
    header: 'Node',
    kind: 'wide',
    cell: ({ nodeId, hostname, pid, isThis }) => (
      <>
        <code>{nodeId}</code> {isThis && <span className="badge">this node</span>}
        <br />
        <span className="quiet">
          <bdi>{hostname}</bdi>, process {pid}
        </span>
      </>
    ),
  },
  { key: 'url', header: 'Address', kind: 'wide', cell: ({ url }) => <bdi>{url}</bdi> },
  { key: 'version', header: 'Version', cell: ({ version }) => version },
  {
    key: 'start',
    header: 'Started',
    kind: 'time',
    cell: ({ startTime }) => <TimeAgo time={startTime} />,
  },
  {
    key: 'beat',
    header: 'Heartbeat',
    kind: 'time',
    cell: ({ lastBeatTime }) => <TimeAgo time={lastBeatTime} />,
  },
  { key: 'load', header: 'Load', kind: 'wide', cell: (node) => <Load node={node} /> },
  { key: 'store', header: 'Store', cell: (node) => <Connections node={node} /> },
];

const REFRESH_MS = 5000;

/** The nodes, with their liveness, load and connections. */
export function NodesPage(): ReactNode {
  const { client } = useSession();
  const nodes = useQuery({
    queryKey: ['nodes'],
    queryFn: async ({ signal }) => (await client.nodes.list({ signal }).page()).items,
    refetchInterval: useLiveState() === 'refused' ? false : REFRESH_MS,
  });
  const { data, error } = nodes;
  return (
    <Page title="Nodes">
      {error !== null && <ProblemView error={error} onRetry={() => void nodes.refetch()} />}
      {nodes.isPending && <Loading />}
      {data !== undefined && (
        <>
          <p className="hint">
            {data.filter(({ alive }) => alive).length} of {data.length} alive. The other nodes take
            over the runs of a node that is presumed dead.
          </p>
          <DataTable label="Nodes" columns={COLUMNS} rows={data} rowKey={({ nodeId }) => nodeId} />
        </>
      )}
    </Page>
  );
}

function Load({ node: { load, alive } }: { readonly node: ServerNode }): ReactNode {
  if (load === null || !alive) return <span className="none">–</span>;
  const { cpuPercent, memoryBytes, eventLoopDelayMs } = load;
  return (
    <>
      {Math.round(cpuPercent)}% CPU, {Math.round(memoryBytes / 1_048_576)} MiB, event loop delay{' '}
      {Math.round(eventLoopDelayMs)} ms
      <br />
      <span className="quiet">
        {load.instancesInMemory} runs in memory, {load.callsUnderWay} calls in progress,{' '}
        {load.parkedPolls} polls waiting
      </span>
    </>
  );
}

function Connections({ node: { store, backplane } }: { readonly node: ServerNode }): ReactNode {
  return (
    <>
      <span className={`badge ${store.reachable ? 'good' : 'bad'}`}>
        {store.kind}
        {!store.reachable && ', unreachable'}
      </span>{' '}
      {backplane !== null && (
        <span className={`badge ${backplane.connected ? 'good' : 'warning'}`}>
          backplane {backplane.kind}
          {!backplane.connected && ', disconnected'}
        </span>
      )}
    </>
  );
}
