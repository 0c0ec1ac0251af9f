import type { ReactNode } from 'react';
import { PERIODS } from './period.js';

interface PeriodFilterProps {
  readonly label: string;
  /** Such as `1h`; empty: at any time. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A period up to now. */
export function PeriodFilter({ label, value, onChange }: PeriodFilterProps): ReactNode {
  const isOffered = value === '' || Object.hasOwn(PERIODS, value);
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">at any time</option>
        {Object.entries(PERIODS).map(([period, text]) => (
          <option key={period} value={period}>
            {text}
          </option>
        ))}
        {!isOffered && <option value={value}>in the last {value}</option>}
      </select>
    </label>
  );
}
