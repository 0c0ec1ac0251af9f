import { useId, type ReactNode } from 'react';
import { jsonProblem } from './json-text.js';

interface JsonFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly autoFocus?: boolean;
}

/** A text field for a JSON value, with immediate validation. */
export function JsonField({
  label,
  value,
  onChange,
  autoFocus = false,
}: JsonFieldProps): ReactNode {
  const problemId = useId();
  const problem = jsonProblem(value);
  return (
    <div className="json-field">
      <label className="field">
        <span>{label}</span>
        <textarea
          rows={6}
          value={value}
          autoFocus={autoFocus}
          spellCheck={false}
          aria-invalid={problem !== null}
          aria-describedby={problemId}
          onChange={({ target }) => onChange(target.value)}
        />
      </label>
      <p className="form-problem" role="status" id={problemId}>
        {problem}
      </p>
    </div>
  );
}
