import type { ReactNode } from 'react';

interface ChoiceFieldProps {
  readonly label: string;
  readonly value: string;
  /** The texts by value. */
  readonly choices: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

/** One of a few values in a form. */
export function ChoiceField({ label, value, choices, onChange }: ChoiceFieldProps): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        {Object.entries(choices).map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
