import type { RepairedWorkflow, Workflow } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { ProblemView } from '../../../components/problem-view.js';
import { Fact } from '../../../components/fact.js';
import { RunBadge } from '../../../components/status-badge.js';
import type { RepairPreviewState } from './use-repair-preview.js';

/** A run that is not suspended continues immediately after its repair. */
const ABOUT_TO_RUN = [{ kind: 'scheduled' }] as const;
/** Maximum number of executions named per list. */
const NAMED_MAX = 20;

interface RepairPreviewProps {
  readonly run: Workflow;
  readonly preview: RepairPreviewState;
  readonly hasPlan: boolean;
  readonly problems: readonly string[];
  readonly remarks: readonly string[];
}

/** The effects of the plan according to the server, or the obstacles. */
export function RepairPreview(props: RepairPreviewProps): ReactNode {
  const { preview, hasPlan, problems, remarks } = props;
  const { result, error, isStale } = preview;
  return (
    <div className="repair-preview" role="group" aria-label="Preview" aria-busy={isStale}>
      <h3>What will happen</h3>
      {problems.map((problem) => (
        <p key={problem} className="form-message">
          {problem}
        </p>
      ))}
      {!hasPlan && problems.length === 0 && <p className="hint">Nothing is chosen yet.</p>}
      {hasPlan && error !== null && <ProblemView error={error} />}
      {hasPlan && error === null && result !== undefined && <Result {...props} result={result} />}
      {remarks.map((remark) => (
        <p key={remark} className="repair-warning">
          <span className="badge warning">warning</span> {remark}
        </p>
      ))}
    </div>
  );
}

function Result({
  run,
  result: { workflow, cancelled, started, repeats, warnings },
}: {
  readonly run: Workflow;
  readonly result: RepairedWorkflow;
}): ReactNode {
  return (
    <>
      <dl className="repair-effects">
        <Fact label="Canceled">
          <bdi>{namesOf(cancelled)}</bdi>
        </Fact>
        <Fact label="Started">
          <bdi>{namesOf(started)}</bdi>
        </Fact>
        <Fact label="Outside calls that happen again">
          <bdi>
            {repeats.length === 0
              ? 'none'
              : repeats.map(({ stepId, stepType }) => `${stepId} (${stepType})`).join(', ')}
          </bdi>
        </Fact>
        {workflow.version !== run.version && (
          <Fact label="Version">
            {run.version} → {workflow.version}
          </Fact>
        )}
        <Fact label="Status afterwards">
          <RunBadge run={workflow} reasons={ABOUT_TO_RUN} />
        </Fact>
      </dl>
      {warnings.map(({ code, message }) => (
        <p key={code} className="repair-warning">
          <span className="badge warning">warning</span> <bdi>{message}</bdi>
        </p>
      ))}
    </>
  );
}

/** `ship, pack (3 executions)` */
function namesOf(executions: readonly { readonly stepId: string }[]): string {
  const counts = new Map<string, number>();
  for (const { stepId } of executions) counts.set(stepId, (counts.get(stepId) ?? 0) + 1);
  const names = [...counts].map(([stepId, count]) =>
    count === 1 ? stepId : `${stepId} (${count} executions)`,
  );
  if (names.length === 0) return 'nothing';
  const more = names.length - NAMED_MAX;
  return names.slice(0, NAMED_MAX).join(', ') + (more > 0 ? ` and ${more} more steps` : '');
}
