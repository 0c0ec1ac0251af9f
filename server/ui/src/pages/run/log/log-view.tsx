import type { Workflow } from '@stepwright/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { useAddressQuery } from '../../../app/address-query.js';
import { useSession } from '../../../app/session.js';
import { DataTable, type Column } from '../../../components/data-table.js';
import { EmptyState } from '../../../components/empty-state.js';
import { JsonView } from '../../../components/json-view.js';
import { Loading } from '../../../components/loading.js';
import { Pager, usePaging } from '../../../components/pager.js';
import { ProblemView } from '../../../components/problem-view.js';
import { TimeAgo } from '../../../components/time-ago.js';
import { readDefinition } from '../../../graph/read-definition.js';
import { useDefinition } from '../../definitions/use-definition.js';
import { StepSelect } from '../step-list/step-select.js';
import { loggingSteps, readLogPage, type LogLevel, type LogLine } from './log-lines.js';

/** Reading the log of a long run takes several calls, so it isn't done on every change. */
const REREAD_MS = 5000;

const TONES: Readonly<Record<LogLevel, string>> = {
  Trace: 'idle',
  Debug: 'idle',
  Information: 'idle',
  Warning: 'warning',
  Error: 'bad',
  Critical: 'bad',
  None: 'idle',
};

const COLUMNS: readonly Column<LogLine>[] = [
  {
    key: 'time',
    header: 'Time',
    kind: 'time',
    cell: ({ execution }) => <TimeAgo time={execution.endTime} />,
  },
  {
    key: 'level',
    header: 'Level',
    cell: ({ kept }) =>
      kept === null ? '–' : <span className={`badge ${TONES[kept.level]}`}>{kept.level}</span>,
  },
  {
    key: 'step',
    header: 'Step',
    cell: ({ execution: { index, name, stepId } }) => (
      <>
        <bdi>{name ?? stepId}</bdi>
        {index !== null && <span className="quiet"> · item {index}</span>}
      </>
    ),
  },
  {
    key: 'message',
    header: 'Message',
    kind: 'wide',
    cell: ({ kept }) =>
      kept === null ? (
        <span className="quiet">too long to be kept: see the log of the server</span>
      ) : (
        <JsonView value={kept.message} openLevels={0} label="Message" />
      ),
  },
];

/** The log lines of the run's EmitLog steps, newest first: of all steps, or the one in the URL. */
export function LogView({ run }: { readonly run: Workflow }): ReactNode {
  const { definitionId, version } = run;
  const [query, setQuery] = useAddressQuery();
  const definition = useDefinition(definitionId, version);
  const steps = useMemo(
    () => (definition.data === undefined ? null : loggingSteps(readDefinition(definition.data))),
    [definition.data],
  );
  if (steps === null) {
    return definition.error === null ? <Loading /> : <ProblemView error={definition.error} />;
  }
  if (steps.length === 0) return <EmptyState title="This definition has no EmitLog step." />;
  const chosen = query.get('step') ?? '';
  return (
    <>
      {(steps.length > 1 || chosen !== '') && (
        <div className="log-filter">
          <StepSelect
            step={chosen}
            steps={steps}
            onChange={(step) => setQuery({ tab: 'log', ...(step !== '' && { step }) })}
          />
        </div>
      )}
      <Lines run={run} stepIds={chosen === '' ? steps.map(({ id }) => id) : [chosen]} />
    </>
  );
}

function Lines({
  run: { workflowId, endTime },
  stepIds,
}: {
  readonly run: Workflow;
  readonly stepIds: readonly string[];
}): ReactNode {
  const { client } = useSession();
  const paging = usePaging(JSON.stringify([workflowId, stepIds]));
  const lines = useQuery({
    // The end of the run is in the key, so that its last lines are read.
    queryKey: ['log of run', workflowId, endTime, stepIds, paging.cursor ?? null],
    queryFn: ({ signal }) =>
      readLogPage(client, workflowId, stepIds, { cursor: paging.cursor, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: endTime === null && REREAD_MS,
  });
  if (lines.data === undefined) {
    return lines.error === null ? <Loading /> : <ProblemView error={lines.error} />;
  }
  const { items, nextCursor } = lines.data;
  return (
    <>
      {lines.error !== null && <ProblemView error={lines.error} />}
      {items.length > 0 ? (
        <DataTable
          label="Log, newest first"
          columns={COLUMNS}
          rows={items}
          rowKey={({ execution: { attempt, executionId } }) => `${executionId}/${attempt}`}
        />
      ) : (
        <NoLines isOneStep={stepIds.length === 1} hasMore={nextCursor !== null} />
      )}
      <Pager paging={paging} nextCursor={nextCursor} isStale={lines.isPlaceholderData} />
    </>
  );
}

function NoLines({
  isOneStep,
  hasMore,
}: {
  readonly isOneStep: boolean;
  readonly hasMore: boolean;
}): ReactNode {
  if (!hasMore) {
    const steps = isOneStep ? 'This EmitLog step has not' : 'No EmitLog step has';
    return <EmptyState title={`${steps} completed yet.`} />;
  }
  return (
    <EmptyState title="This part of the run has logged nothing.">
      <p>Go to the next page to continue the search.</p>
    </EmptyState>
  );
}
