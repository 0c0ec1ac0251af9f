import type { StepExecution } from '@stepwright/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { usePollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { EmptyState } from '../../components/empty-state.js';
import { JsonView } from '../../components/json-view.js';
import { Loading } from '../../components/loading.js';
import { Pager, usePaging } from '../../components/pager.js';
import { ProblemView } from '../../components/problem-view.js';
import { StatusBadge } from '../../components/status-badge.js';
import { durationText, exactTime, TimeAgo, useNow } from '../../components/time-ago.js';
import { ErrorDetails } from './error-details.js';
import type { Executions } from './use-run.js';

const PAGE_SIZE = 50;

/** All executions of a run, in pages; or, where a step is chosen, its executions. */
export function StepList({
  workflowId,
  stepId,
  executions,
  onClear,
}: {
  readonly workflowId: string;
  readonly stepId: string | null;
  readonly executions: Executions | undefined;
  readonly onClear: () => void;
}): ReactNode {
  if (stepId === null) return <AllSteps workflowId={workflowId} />;
  const items = executions?.items.filter((execution) => execution.stepId === stepId) ?? [];
  return (
    <>
      <p className="step-filter">
        Only{' '}
        <code>
          <bdi>{stepId}</bdi>
        </code>{' '}
        <Button isSmall variant="quiet" onPress={onClear}>
          Show all steps
        </Button>
        {executions?.isCut === true && (
          <span className="quiet">
            {' '}
            among the first {executions.items.length} executions of this run
          </span>
        )}
      </p>
      <LocalSteps key={stepId} items={items} />
    </>
  );
}

function LocalSteps({ items }: { readonly items: readonly StepExecution[] }): ReactNode {
  const [shown, setShown] = useState(PAGE_SIZE);
  return (
    <>
      <StepRows items={items.slice(0, shown)} />
      {items.length > shown && (
        <Button isSmall onPress={() => setShown(shown + PAGE_SIZE)}>
          Show more of {items.length}
        </Button>
      )}
    </>
  );
}

function AllSteps({ workflowId }: { readonly workflowId: string }): ReactNode {
  const { client } = useSession();
  const paging = usePaging(workflowId);
  const steps = useQuery({
    queryKey: ['run', workflowId, 'steps', paging.cursor ?? null],
    queryFn: ({ signal }) =>
      client.workflows.steps(workflowId, { limit: PAGE_SIZE, signal }).page(paging.cursor),
    placeholderData: keepPreviousData,
    refetchInterval: usePollInterval(),
  });
  if (steps.data === undefined) {
    return steps.error === null ? <Loading /> : <ProblemView error={steps.error} />;
  }
  return (
    <>
      <StepRows items={steps.data.items} />
      <Pager paging={paging} nextCursor={steps.data.nextCursor} />
    </>
  );
}

function StepRows({ items }: { readonly items: readonly StepExecution[] }): ReactNode {
  if (items.length === 0) return <EmptyState title="No step has run yet." />;
  return (
    <ul className="step-rows panel" aria-label="Executions of steps">
      {items.map((execution) => (
        <StepRow key={execution.executionId} execution={execution} />
      ))}
    </ul>
  );
}

function StepRow({ execution }: { readonly execution: StepExecution }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { stepId, stepType, name, status, attempt, index, startTime, error } = execution;
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="step-row">
          <StatusBadge status={status} />
          <span className="step-name">
            <bdi>{name ?? stepId}</bdi>
            <span className="quiet">
              <bdi>{name === null ? stepType : `${stepId} · ${stepType}`}</bdi>
              {index !== null && ` · item ${index}`}
              {attempt > 1 && ` · try ${attempt}`}
            </span>
            {error !== null && !isOpen && (
              <span className="step-message">
                <bdi>{error.message.slice(0, 300)}</bdi>
              </span>
            )}
          </span>
          <TimeAgo time={startTime} />
          <StepDuration execution={execution} />
        </summary>
        {isOpen && <StepDetails execution={execution} />}
      </details>
    </li>
  );
}

function StepDuration({ execution }: { readonly execution: StepExecution }): ReactNode {
  const nowMs = useNow();
  const endMs = execution.endTime === null ? nowMs : Date.parse(execution.endTime);
  return (
    <span className="step-took">
      {durationText(Math.max(0, endMs - Date.parse(execution.startTime)))}
    </span>
  );
}

function StepDetails({ execution }: { readonly execution: StepExecution }): ReactNode {
  const { executionId, inputs, outputs, item, error, waitsFor, startTime, endTime } = execution;
  const { childWorkflowId } = execution;
  return (
    <div className="step-details">
      <p className="quiet">
        Execution {executionId}, from {exactTime(startTime)}
        {endTime !== null && ` to ${exactTime(endTime)}`}
      </p>
      {waitsFor !== null && <WaitsFor waitsFor={waitsFor} />}
      {childWorkflowId !== null && (
        <p>
          Its run: <Link href={toPath('runs', childWorkflowId)}>{childWorkflowId}</Link>
        </p>
      )}
      {error !== null && <ErrorDetails error={error} />}
      <div className="step-values">
        {item !== null && <LabelledJson label="Item" value={item} />}
        <LabelledJson label="Inputs" value={inputs} />
        <LabelledJson label="Outputs: what it changed in the data" value={outputs} />
      </div>
    </div>
  );
}

function WaitsFor({
  waitsFor,
}: {
  readonly waitsFor: NonNullable<StepExecution['waitsFor']>;
}): ReactNode {
  const { kind, until, eventName, eventKey, activityName, open } = waitsFor;
  return (
    <p>
      Waits for {kind === 'event' && <bdi>{`the event ${eventName ?? ''}/${eventKey ?? ''}`}</bdi>}
      {kind === 'activity' && <bdi>{`a worker that does ${activityName ?? ''}`}</bdi>}
      {kind === 'workflow' && 'the end of another run'}
      {kind === 'steps' && `${open ?? 0} steps inside`}
      {kind === 'retry' && 'its next try, '}
      {kind === 'time' && 'the time '}
      {until !== undefined && <TimeAgo time={until} />}
    </p>
  );
}

function LabelledJson({
  label,
  value,
}: {
  readonly label: string;
  readonly value: unknown;
}): ReactNode {
  const isEmpty = value === null || (typeof value === 'object' && Object.keys(value).length === 0);
  return (
    <div className="labelled-json">
      <h3>{label}</h3>
      {isEmpty ? <span className="none">nothing</span> : <JsonView value={value} label={label} />}
    </div>
  );
}
