import type { ReactNode } from 'react';
import type { GraphStep } from '../../../graph/read-definition.js';

interface StepSelectProps {
  /** The id of the chosen step; empty for any. */
  readonly step: string;
  readonly steps: readonly GraphStep[];
  readonly onChange: (step: string) => void;
}

/** Chooses one step of a definition, or any. */
export function StepSelect({ step, steps, onChange }: StepSelectProps): ReactNode {
  // A run that was moved to another version also has executions of steps that are gone.
  const isKnown = step === '' || steps.some(({ id }) => id === step);
  return (
    <label className="field">
      <span>Step</span>
      <select value={step} onChange={({ target }) => onChange(target.value)}>
        <option value="">any</option>
        {!isKnown && <option>{step}</option>}
        {steps.map(({ id, name, type }) => (
          <option key={id} value={id}>
            {name === null ? `${id} · ${type}` : `${name} · ${id} · ${type}`}
          </option>
        ))}
      </select>
    </label>
  );
}
