import { useState, type ReactNode } from 'react';

interface TextFilterProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly pattern?: string;
  /** What may be entered. */
  readonly hint?: string;
  /** For values of a few characters. */
  readonly isShort?: boolean;
  readonly lengthMax?: number;
}

/** A text field in a filter. It applies its text when it loses the focus or the user presses Enter. */
export function TextFilter(props: TextFilterProps): ReactNode {
  const { label, value, pattern, hint, isShort = false, lengthMax = 500, onChange } = props;
  const [text, setText] = useState(value);
  const [appliedValue, setAppliedValue] = useState(value);
  // The filter was changed elsewhere, for example by a preset or by Back.
  if (appliedValue !== value) {
    setAppliedValue(value);
    setText(value);
  }
  const isValid = pattern === undefined || text === '' || new RegExp(`^${pattern}$`).test(text);
  const apply = (): void => {
    if (isValid && text !== value) onChange(text);
  };
  return (
    <label className={isShort ? 'field short' : 'field'}>
      <span>{label}</span>
      <input
        value={text}
        maxLength={lengthMax}
        spellCheck={false}
        title={hint}
        aria-invalid={!isValid}
        onChange={({ target }) => setText(target.value)}
        onBlur={apply}
        onKeyDown={({ key }) => {
          if (key === 'Enter') apply();
        }}
      />
    </label>
  );
}
