import type { ReactNode } from 'react';

/** A text of one line in a form. */
export function TextField({
  label,
  value,
  hint,
  isRequired = false,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly onChange: (value: string) => void;
}): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        required={isRequired}
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      {hint !== undefined && <span className="hint">{hint}</span>}
    </label>
  );
}
