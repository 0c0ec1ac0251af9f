/** Why a run failed, or what it is waiting for, in a row of a list. */
import type { WaitReason, WorkflowSummary } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { RunId } from '../../components/run-id.js';
import { TimeAgo, useNow } from '../../components/time-ago.js';
import { freshText } from '../run/fresh-text.js';
import { useRunWait } from './use-run-wait.js';

export function WhyCell({ run }: { readonly run: WorkflowSummary }): ReactNode {
  const explanation = useRunWait(run);
  const nowMs = useNow();
  const [first] = explanation?.reasons ?? [];
  const failure = run.failure ?? first?.error ?? null;
  if (failure !== null) {
    return (
      <>
        <Clipped text={`${failure.type}: ${failure.message}`}>
          {failure.stepId !== '' && (
            <span className="quiet">
              <bdi>{failure.stepId}</bdi>:{' '}
            </span>
          )}
          <bdi>{`${failure.type}: ${failure.message}`}</bdi>
        </Clipped>
        {first?.kind === 'retry' && run.status === 'Runnable' && (
          <span className="quiet why-next">
            attempt {first.attempt} <TimeAgo time={first.until} />
            {run.failingSince !== run.failureTime && (
              <>
                , first failed <TimeAgo time={run.failingSince} />
              </>
            )}
          </span>
        )}
      </>
    );
  }
  if (explanation === undefined || first === undefined) return <span className="none">–</span>;
  const text = freshText(explanation.summary, first, explanation, nowMs);
  const more = explanation.reasons.length - 1 + explanation.moreReasons;
  return (
    <Clipped text={text}>
      <Wait reason={first} text={text} />
      {more > 0 && <span className="quiet"> and {more} more</span>}
    </Clipped>
  );
}

function Clipped({
  text,
  children,
}: {
  readonly text: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <span className="clip why-text" title={text}>
      {children}
    </span>
  );
}

function Wait({ reason, text }: { readonly reason: WaitReason; readonly text: string }): ReactNode {
  const { kind, until, stepId } = reason;
  switch (kind) {
    case 'event':
      return <bdi>{`event ${reason.eventName ?? ''}/${reason.eventKey ?? ''}`}</bdi>;
    case 'activity':
      return (
        <>
          <bdi>{`activity ${reason.activityName ?? ''}`}</bdi>
          <span className="quiet">{holderOf(reason)}</span>
        </>
      );
    case 'workflow':
      return (
        <>
          child run <RunId id={reason.workflowId ?? ''} />
        </>
      );
    case 'timer':
    case 'debounce':
      return (
        <>
          {stepId === null ? 'starts' : 'timer'}, <TimeAgo time={until} />
        </>
      );
    case 'running':
      return <bdi>{`${reason.stepType ?? 'a call'} of ${reason.stepName ?? stepId ?? ''}`}</bdi>;
    case 'queue':
    case 'limit':
    case 'suspended':
    case 'set-aside':
    case 'compensating':
    case 'retry':
    case 'scheduled':
    case 'ended':
      return <bdi>{text}</bdi>;
  }
}

function holderOf({ queue, worker }: WaitReason): ReactNode {
  if (worker !== undefined) {
    return (
      <>
        , held by <bdi>{worker.workerId === '' ? 'an unnamed worker' : worker.workerId}</bdi>
      </>
    );
  }
  if (queue === undefined || queue.pollers > 0) return null;
  return queue.lastPollTime === null ? ', never polled' : ', no idle worker';
}
