/** The columns of the list of runs. */
import type { WorkflowSummary } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import type { Column } from '../../components/data-table.js';
import { RunId } from '../../components/run-id.js';
import { RunBadge } from '../../components/status-badge.js';
import { TextCell } from '../../components/text-cell.js';
import { durationText, TimeAgo, useNow } from '../../components/time-ago.js';
import { valuesOf } from './conditions.js';
import { useRunWait } from './use-run-wait.js';
import { WhyCell } from './why-cell.js';

export const RUN_COLUMNS: readonly Column<WorkflowSummary>[] = [
  { key: 'status', header: 'Status', cell: (run) => <StatusCell run={run} /> },
  { key: 'id', header: 'Run', kind: 'id', cell: (run) => <IdCell run={run} /> },
  {
    key: 'definition',
    header: 'Definition',
    kind: 'wide',
    cell: ({ definitionId, version }) => (
      <span className="clip" title={definitionId}>
        <bdi>{definitionId}</bdi> <span className="quiet">v{version}</span>
      </span>
    ),
  },
  {
    key: 'reference',
    header: 'Reference',
    kind: 'wide',
    cell: ({ reference }) => <TextCell text={reference ?? ''} />,
  },
  { key: 'why', header: 'Why', kind: 'wide', cell: (run) => <WhyCell run={run} /> },
  {
    key: 'start',
    header: 'Started',
    kind: 'time',
    cell: (run) => <TimeAgo time={run.startTime} />,
  },
  {
    key: 'change',
    header: 'Changed',
    kind: 'time',
    cell: (run) => <TimeAgo time={run.lastChangeTime} />,
  },
  { key: 'took', header: 'Duration', kind: 'number', cell: (run) => <Duration run={run} /> },
];

interface CellProps {
  readonly run: WorkflowSummary;
}

function StatusCell({ run }: CellProps): ReactNode {
  return <RunBadge run={run} reasons={useRunWait(run)?.reasons} />;
}

function IdCell({ run: { workflowId, parent } }: CellProps): ReactNode {
  return (
    <>
      <Link href={toPath('runs', workflowId)}>
        <RunId id={workflowId} />
      </Link>
      {parent !== null && (
        <Link
          className="parent-link"
          href={toPath('runs', parent.workflowId)}
          title={`Started by run ${parent.workflowId}`}
          aria-label={`Parent of run ${workflowId}`}
        >
          ↑ parent
        </Link>
      )}
    </>
  );
}

function Duration({ run: { startTime, endTime } }: CellProps): ReactNode {
  const nowMs = useNow();
  const endMs = endTime === null ? nowMs : Date.parse(endTime);
  const text = durationText(Math.max(0, endMs - Date.parse(startTime)));
  return endTime === null ? <span className="quiet">{text}</span> : text;
}

/** The column of an index field or a tag. */
export function fieldColumn(name: string): Column<WorkflowSummary> {
  return {
    key: `field ${name}`,
    header: name,
    cell: (run) => <TextCell text={valuesOf(run, name).join(', ')} />,
  };
}
