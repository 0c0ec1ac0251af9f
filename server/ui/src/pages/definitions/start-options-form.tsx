import type { ReactNode } from 'react';
import type { StartChoices } from './start-options.js';

interface StartOptionsFormProps {
  readonly choices: StartChoices;
  readonly onChange: (choices: StartChoices) => void;
}

export function StartOptionsForm({ choices, onChange }: StartOptionsFormProps): ReactNode {
  return (
    <div className="start-options">
      <label className="field">
        <span>Reference, to find the run by (optional)</span>
        <input
          value={choices.reference}
          spellCheck={false}
          onChange={({ target }) => onChange({ reference: target.value })}
        />
      </label>
    </div>
  );
}
