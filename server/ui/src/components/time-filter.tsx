import type { ReactNode } from 'react';
import { useZone } from './zone-choice.js';

interface TimeFilterProps {
  readonly label: string;
  /** In the chosen zone, in the format of an input of type `datetime-local`. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A point in time. */
export function TimeFilter({ label, value, onChange }: TimeFilterProps): ReactNode {
  const zone = useZone();
  return (
    <label className="field">
      <span>
        {label}
        {zone === 'UTC' && ' (UTC)'}
      </span>
      <input
        type="datetime-local"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
