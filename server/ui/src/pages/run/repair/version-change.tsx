import type { Workflow } from '@stepwright/sdk';
import { useMemo, type ReactNode } from 'react';
import { readDefinition } from '../../../graph/read-definition.js';
import { useDefinition, useLatestDefinition } from '../../definitions/use-definition.js';
import { VersionChoice } from '../../definitions/version-choice.js';
import { missingSteps, type RepairableExecution, type RepairPlan } from './repair-plan.js';

interface VersionChangeProps {
  readonly run: Workflow;
  readonly plan: RepairPlan;
  readonly open: readonly RepairableExecution[];
  readonly set: (change: Partial<RepairPlan>) => void;
}

/** Moves the run to another version of its definition. Steps that stay open need a counterpart there. */
export function VersionChange({ run, plan, open, set }: VersionChangeProps): ReactNode {
  const latest = useLatestDefinition(run.definitionId).data?.version ?? run.version;
  const target = useDefinition(run.definitionId, plan.version);
  const definition = useMemo(() => readDefinition(target.data), [target.data]);
  if (latest === 1) return null;
  const isMoved = plan.version !== run.version;
  const kept = plan.cancelsAll
    ? []
    : open.filter(({ executionId }) => !plan.cancel.includes(executionId));
  const isKnown = target.data !== undefined && !target.isPlaceholderData;
  const missing = isMoved && isKnown ? missingSteps(kept, definition) : [];
  return (
    <fieldset className="repair-part">
      <legend>Version of the definition</legend>
      <VersionChoice
        label="Continue in version"
        version={plan.version}
        latestVersion={latest}
        onChoose={(version) => set({ version, stepMap: {} })}
      />
      {isMoved && <span className="hint"> The run is in version {run.version} now.</span>}
      {missing.map(({ stepId, candidates }) => (
        <label key={stepId} className="field">
          <span>
            Version {plan.version} has no step {stepId}. It becomes
          </span>
          <select
            value={plan.stepMap[stepId] ?? ''}
            onChange={({ target: { value } }) =>
              set({ stepMap: { ...plan.stepMap, [stepId]: value } })
            }
          >
            <option value="">(choose a step, or cancel it)</option>
            {candidates.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
      ))}
    </fieldset>
  );
}
