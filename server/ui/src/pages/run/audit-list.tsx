import type { ReactNode } from 'react';
import type { WorkflowAction } from '@stepwright/sdk';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { ProblemView } from '../../components/problem-view.js';
import { exactTime } from '../../components/zone-choice.js';
import { TimeAgo } from '../../components/time-ago.js';
import { useAudit } from './use-run.js';

const COLUMNS: readonly Column<WorkflowAction>[] = [
  { key: 'when', header: 'When', kind: 'time', cell: ({ time }) => <TimeAgo time={time} /> },
  { key: 'time', header: 'Time', kind: 'time', cell: ({ time }) => exactTime(time) },
  { key: 'who', header: 'Who', cell: ({ actor }) => <bdi>{actor}</bdi> },
  { key: 'what', header: 'What', cell: ({ action }) => action.replace('-', ' ') },
  {
    key: 'detail',
    header: 'Detail',
    kind: 'wide',
    cell: ({ detail }) => (detail === null ? <span className="none">–</span> : <bdi>{detail}</bdi>),
  },
];

/** The actions on a run, each with its time and caller. */
export function AuditList({ workflowId }: { readonly workflowId: string }): ReactNode {
  const audit = useAudit(workflowId);
  if (audit.data === undefined) {
    return audit.error === null ? <Loading /> : <ProblemView error={audit.error} />;
  }
  if (audit.data.length === 0) {
    return (
      <EmptyState title="There have been no actions on this run.">
        <p>
          Suspending, resuming, terminating and retrying the run appear here, and so do manual
          answers to its activities and events.
        </p>
      </EmptyState>
    );
  }
  return (
    <DataTable
      label="Actions on this run"
      columns={COLUMNS}
      rows={audit.data}
      rowKey={({ time, action, detail }) => `${time} ${action} ${detail ?? ''}`}
    />
  );
}
