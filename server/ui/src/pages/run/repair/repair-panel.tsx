import type { Explanation, Workflow } from '@stepwright/sdk';
import { useMemo, useState, type ReactNode } from 'react';
import { useSession } from '../../../app/session.js';
import { Button } from '../../../components/button.js';
import { Loading } from '../../../components/loading.js';
import { ProblemView } from '../../../components/problem-view.js';
import { useToasts } from '../../../components/toasts.js';
import { useUnsavedWarning } from '../../../components/unsaved-warning.js';
import { readDefinition, type GraphDefinition } from '../../../graph/read-definition.js';
import { useDefinition } from '../../definitions/use-definition.js';
import { NEWEST_COUNT, type Executions } from '../use-run.js';
import { DataChange } from './data-change.js';
import { RepairPreview } from './repair-preview.js';
import {
  executionToRepair,
  firstPlan,
  openExecutions,
  readPlan,
  REASON_MAX,
  type Modification,
  type RepairableExecution,
  type RepairPlan,
} from './repair-plan.js';
import { StepChoice } from './step-choice.js';
import { useRepairPreview } from './use-repair-preview.js';
import { VersionChange } from './version-change.js';
import './repair.css';

interface RepairPanelProps {
  readonly run: Workflow;
  readonly explanation: Explanation | undefined;
  readonly executions: Executions;
  /** The step to start from, if the user has chosen one elsewhere. */
  readonly stepId: string | null;
  /** Whether to start from the first step. */
  readonly isFromStart: boolean;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Repairs a run: previews a modification and applies it. */
export function RepairPanel(props: RepairPanelProps): ReactNode {
  const { run } = props;
  const definition = useDefinition(run.definitionId, run.version);
  if (definition.data === undefined) {
    return definition.error === null ? <Loading /> : <ProblemView error={definition.error} />;
  }
  return <RepairForm {...props} definition={readDefinition(definition.data)} />;
}

function RepairForm(props: RepairPanelProps & { readonly definition: GraphDefinition }): ReactNode {
  const { run: current, executions, explanation, definition, stepId, onClose } = props;
  // The editor shows the data from when the panel was opened; only the user's changes are sent.
  const [run] = useState(current);
  const open = useMemo(
    () => openExecutions(executions.items, explanation),
    [executions, explanation],
  );
  const [first] = useState(() => {
    const chosen = props.isFromStart ? (definition.steps[0]?.id ?? null) : stepId;
    return firstPlan(run, definition.steps, stepToRepair(props, open), chosen);
  });
  const [plan, setPlan] = useState<RepairPlan>(first);
  const [reason, setReason] = useState('');
  const isCut = executions.isCut && open.length >= NEWEST_COUNT;
  const { modification, problems, remarks } = readPlan(plan, run, open.length);
  const apply = useApply(props, modification, reason);
  const preview = useRepairPreview(current, modification, apply.isPending);
  useUnsavedWarning(plan !== first || reason !== '');
  const set = (change: Partial<RepairPlan>): void =>
    setPlan((before) => ({ ...before, ...change }));
  const isReady = modification !== null && reason.trim() !== '' && preview.error === null;
  return (
    <section className="repair panel" aria-labelledby="repair-title">
      <h2 id="repair-title">Repair this run</h2>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void apply.send();
        }}
      >
        <StepChoice {...{ run, plan, open, isCut, set, own: definition }} />
        <VersionChange {...{ run, plan, open, set }} />
        <DataChange {...{ run, plan, set }} />
        {current.status === 'Suspended' && <ResumeBox {...{ plan, set }} />}
        <RepairPreview {...{ run, preview, problems, remarks }} hasPlan={modification !== null} />
        <ReasonField reason={reason} onChange={setReason} />
        {apply.error !== null && <ProblemView error={apply.error} />}
        <div className="dialog-buttons">
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            needs="controller"
            isDisabled={!isReady}
            isPending={apply.isPending}
          >
            Apply
          </Button>
        </div>
      </form>
    </section>
  );
}

function ResumeBox({
  plan,
  set,
}: {
  readonly plan: RepairPlan;
  readonly set: (change: Partial<RepairPlan>) => void;
}): ReactNode {
  return (
    <label className="repair-check">
      <input
        type="checkbox"
        checked={plan.resume}
        onChange={({ target }) => set({ resume: target.checked })}
      />
      <span>Resume the run</span>
    </label>
  );
}

function ReasonField({
  reason,
  onChange,
}: {
  readonly reason: string;
  readonly onChange: (reason: string) => void;
}): ReactNode {
  return (
    <label className="field">
      <span>Reason, for the history of the run (required)</span>
      <input
        value={reason}
        maxLength={REASON_MAX}
        autoComplete="off"
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

/** The failed step, else the first step that the run is waiting at. */
function stepToRepair(
  { executions, explanation, run }: RepairPanelProps,
  open: readonly RepairableExecution[],
): RepairableExecution | null {
  const failed = executionToRepair(run, executions.items, open);
  if (failed !== null) return failed;
  const ids = explanation?.reasons.map(({ executionId }) => executionId) ?? [];
  return open.find(({ executionId }) => ids.includes(executionId)) ?? null;
}

function useApply(
  { run, onClose, onDone }: RepairPanelProps,
  modification: Modification | null,
  reason: string,
) {
  const { client, noticeFailure } = useSession();
  const { say } = useToasts();
  const [error, setError] = useState<unknown>(null);
  const [isPending, setPending] = useState(false);
  const send = async (): Promise<void> => {
    if (modification === null || isPending) return;
    setPending(true);
    setError(null);
    try {
      const body = { ...modification, reason: reason.trim() };
      const { cancelled, started } = await client.workflows.modify(run.workflowId, body);
      say(`The run was repaired: ${cancelled.length} canceled, ${started.length} started.`);
      onClose();
    } catch (problem) {
      noticeFailure(problem);
      setError(problem);
    } finally {
      setPending(false);
      onDone();
    }
  };
  return { error, isPending, send };
}
