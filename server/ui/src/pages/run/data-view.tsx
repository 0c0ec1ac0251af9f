import type { StepExecution, Workflow } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { DataTable, type Column } from '../../components/data-table.js';
import { JsonView } from '../../components/json-view.js';
import { Loading } from '../../components/loading.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';
import { CUT_WORDS, useRunInput, type Executions } from './use-run.js';

interface Change {
  readonly field: string;
  readonly value: unknown;
  readonly execution: StepExecution;
}

const CHANGES_SHOWN = 200;

const COLUMNS: readonly Column<Change>[] = [
  {
    key: 'when',
    header: 'When',
    kind: 'time',
    cell: ({ execution }) => <TimeAgo time={execution.endTime} />,
  },
  {
    key: 'field',
    header: 'Field',
    cell: ({ field }) => (
      <code>
        <bdi>{field}</bdi>
      </code>
    ),
  },
  {
    key: 'value',
    header: 'New value',
    kind: 'wide',
    cell: ({ value }) => <JsonView value={value} openLevels={0} label="New value" />,
  },
  {
    key: 'step',
    header: 'Step',
    cell: ({ execution }) => <bdi>{execution.name ?? execution.stepId}</bdi>,
  },
];

/** The current data of a run, and what each step changed. */
export function DataView({
  run,
  executions,
}: {
  readonly run: Workflow;
  readonly executions: Executions | undefined;
}): ReactNode {
  const changes = changesOf(executions?.items ?? []);
  return (
    <div className="data-view">
      <section className="panel" aria-labelledby="data-now">
        <h2 id="data-now">Current data</h2>
        <JsonView value={run.data} label="Data" />
        <RunInput workflowId={run.workflowId} />
      </section>
      <section aria-labelledby="data-changes">
        <h2 id="data-changes">Changes, newest first</h2>
        {executions?.isCut === true && <p className="hint">Only changes by {CUT_WORDS}.</p>}
        {changes.length === 0 ? (
          <p className="hint">No step has changed the data.</p>
        ) : (
          <DataTable
            label="Changes to the data"
            columns={COLUMNS}
            rows={changes.slice(0, CHANGES_SHOWN)}
            rowKey={({ field, execution }) =>
              `${execution.executionId}/${execution.attempt}/${field}`
            }
          />
        )}
        {changes.length > CHANGES_SHOWN && (
          <p className="hint">
            Only the most recent {CHANGES_SHOWN} of {changes.length} changes are shown.
          </p>
        )}
      </section>
    </div>
  );
}

/** The data that the run was started with, once the user asks for them. */
function RunInput({ workflowId }: { readonly workflowId: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const input = useRunInput(workflowId, isOpen);
  return (
    <details className="run-input" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Input, as it was posted</summary>
      {isOpen && input.isPending && <Loading />}
      {input.error !== null && <ProblemView error={input.error} />}
      {input.data !== undefined && <JsonView value={input.data} label="Input" />}
    </details>
  );
}

function changesOf(executions: readonly StepExecution[]): Change[] {
  return executions
    .flatMap((execution) => {
      const { outputs } = execution;
      if (typeof outputs !== 'object' || outputs === null || Array.isArray(outputs)) return [];
      const entries: readonly (readonly [string, unknown])[] = Object.entries(outputs);
      return entries.map(([field, value]) => ({ field, value, execution }));
    })
    .sort((a, b) => ((a.execution.endTime ?? '') < (b.execution.endTime ?? '') ? 1 : -1));
}
