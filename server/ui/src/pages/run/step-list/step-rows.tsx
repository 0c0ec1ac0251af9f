import type { StepExecution } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../../app/path.js';
import { exactTime } from '../../../components/zone-choice.js';
import { JsonView } from '../../../components/json-view.js';
import { StepBadge } from '../../../components/status-badge.js';
import { durationText, TimeAgo, useNow } from '../../../components/time-ago.js';
import { ErrorDetails } from '../error-details.js';
import { CompareAttempts } from '../step-details/compare-attempts.js';
import { RawExecution } from '../step-details/raw-execution.js';

/** Executions, each with its inputs, outputs and wait. */
export function StepRows({
  workflowId,
  isSuspended,
  items,
}: {
  readonly workflowId: string;
  readonly isSuspended: boolean;
  readonly items: readonly StepExecution[];
}): ReactNode {
  return (
    <ul className="step-rows panel" aria-label="Executions of steps">
      {items.map((execution) => (
        <StepRow
          key={`${execution.executionId}/${execution.attempt}`}
          {...{ workflowId, isSuspended, execution }}
        />
      ))}
    </ul>
  );
}

interface ExecutionProps {
  readonly workflowId: string;
  readonly isSuspended: boolean;
  readonly execution: StepExecution;
}

function StepRow({ workflowId, isSuspended, execution }: ExecutionProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { stepId, stepType, name, attempt, index, startTime, error, waitsFor } = execution;
  // The error belongs to the previous attempt, which has its own row.
  const isNext = waitsFor?.kind === 'retry';
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="step-row">
          <StepBadge execution={execution} isSuspended={isSuspended} />
          <span className="step-name">
            <bdi>{name ?? stepId}</bdi>
            <span className="quiet">
              <bdi>{name === null ? stepType : `${stepId} · ${stepType}`}</bdi>
              {index !== null && ` · item ${index}`}
              {attempt > 1 && ` · attempt ${attempt}`}
            </span>
            {isNext && (
              <span className="quiet">
                <RetryTime until={isSuspended ? null : (waitsFor.until ?? null)} />
              </span>
            )}
            {error !== null && !isNext && !isOpen && (
              <span className="step-message">
                <bdi>{error.message.slice(0, 300)}</bdi>
              </span>
            )}
          </span>
          {/* An attempt that has not started has neither. */}
          {isNext ? <span /> : <TimeAgo time={startTime} />}
          {isNext ? <span /> : <StepDuration execution={execution} />}
        </summary>
        {isOpen && <StepDetails {...{ workflowId, execution }} />}
      </details>
      <CompareAttempts {...{ workflowId, execution }} />
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

function StepDetails({ workflowId, execution }: Omit<ExecutionProps, 'isSuspended'>): ReactNode {
  const { executionId, inputs, outputs, item, error, waitsFor, startTime, endTime } = execution;
  const { childWorkflowId, status, stepId } = execution;
  return (
    <div className="step-details">
      <p className="quiet">
        Execution {executionId}, from {exactTime(startTime)}
        {endTime !== null && ` to ${exactTime(endTime)}`} ·{' '}
        <Link href={`${toPath('runs', workflowId)}?${new URLSearchParams({ repair: stepId })}`}>
          Repair from this step …
        </Link>
      </p>
      {execution.reason !== null && (
        <p>
          {status === 'Cancelled' ? 'Canceled' : 'Started'} by a repair:{' '}
          <bdi>{execution.reason}</bdi>
        </p>
      )}
      {execution.compensates !== null && <p>Undoes execution {execution.compensates}</p>}
      {waitsFor !== null && waitsFor.kind !== 'retry' && <WaitsFor waitsFor={waitsFor} />}
      {childWorkflowId !== null && (
        <p>
          Child run: <Link href={toPath('runs', childWorkflowId)}>{childWorkflowId}</Link>
        </p>
      )}
      <RawExecution execution={execution}>
        {error !== null && (
          <>
            {waitsFor?.kind === 'retry' && <p>The previous attempt failed:</p>}
            <ErrorDetails error={error} />
          </>
        )}
        <div className="step-values">
          {item !== null && <LabelledJson label="Item" value={item} />}
          <LabelledJson label="Inputs" value={inputs} />
          <LabelledJson label="Outputs (changes to the data)" value={outputs} />
        </div>
      </RawExecution>
    </div>
  );
}

/** When the next attempt starts; null: when the run is resumed. */
function RetryTime({ until }: { readonly until: string | null }): ReactNode {
  if (until === null) return 'starts when the run is resumed';
  return (
    <>
      starts <TimeAgo time={until} />
    </>
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
      Waiting for {kind === 'event' && <bdi>{`event ${eventName ?? ''}/${eventKey ?? ''}`}</bdi>}
      {kind === 'activity' && <bdi>{`a worker for ${activityName ?? ''}`}</bdi>}
      {kind === 'workflow' && 'its child run to end'}
      {kind === 'steps' && `${open ?? 0} inner ${open === 1 ? 'step' : 'steps'}`}
      {kind === 'time' && 'a timer, due '}
      {kind === 'queue' && 'other runs to end'}
      {kind === 'limit' && <SlotWait waitsFor={waitsFor} />}
      {until !== undefined && <TimeAgo time={until} />}
    </p>
  );
}

function SlotWait({
  waitsFor: { ahead, key = '', limit = '', since },
}: {
  readonly waitsFor: NonNullable<StepExecution['waitsFor']>;
}): ReactNode {
  return (
    <>
      a slot of the limit{' '}
      <Link href={toPath('limits', limit)}>
        <bdi>{limit}</bdi>
      </Link>
      {key !== '' && (
        <>
          {' '}
          with the key <bdi>{key}</bdi>
        </>
      )}
      {ahead !== undefined && `, ${ahead.toLocaleString('en')} in line before it`}
      {since !== undefined && (
        <>
          , since <TimeAgo time={since} />
        </>
      )}
    </>
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
      {isEmpty ? <span className="none">none</span> : <JsonView value={value} label={label} />}
    </div>
  );
}
