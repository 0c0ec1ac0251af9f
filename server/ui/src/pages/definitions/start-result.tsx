import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import { JsonView } from '../../components/json-view.js';
import { ProblemView } from '../../components/problem-view.js';
import { RunBadge } from '../../components/status-badge.js';
import { ErrorDetails } from '../run/error-details.js';
import { useExplanation, useLiveRun, useRun } from '../run/use-run.js';

/** The run that was started or joined: its current step, and its data once it has ended. */
export function StartResult({
  workflowId,
  joined,
}: {
  readonly workflowId: string;
  readonly joined: boolean;
}): ReactNode {
  useLiveRun(workflowId);
  const run = useRun(workflowId);
  const isOpen = run.data?.outcome === null;
  const explanation = useExplanation(workflowId);
  return (
    <section className="panel stacked" aria-labelledby="start-result-title">
      <h2 id="start-result-title">Result</h2>
      <p>
        <Link href={toPath('runs', workflowId)}>
          run <code>{workflowId}</code>
        </Link>
        {joined && ' has the reference: it was joined, and no run was started.'}
      </p>
      {run.error !== null && <ProblemView error={run.error} />}
      {run.data !== undefined && (
        <>
          <p role="status">
            <RunBadge run={run.data} reasons={explanation.data?.reasons} />{' '}
            {isOpen && <bdi>{explanation.data?.summary ?? 'Waiting for the result …'}</bdi>}
          </p>
          {run.data.lastError !== null && <ErrorDetails error={run.data.lastError} />}
          <JsonView value={run.data.data} label="Data of the run" />
        </>
      )}
    </section>
  );
}
