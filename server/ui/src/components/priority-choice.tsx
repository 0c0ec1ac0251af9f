import type { ReactNode } from 'react';

const WORDS = ['1 (first)', '2', '3 (default)', '4', '5 (last)'];

export function PriorityChoice({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: number;
  readonly onChange: (priority: number) => void;
}): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(Number(target.value))}>
        {WORDS.map((words, index) => (
          <option key={words} value={index + 1}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
