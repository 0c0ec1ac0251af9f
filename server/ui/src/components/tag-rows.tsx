import { useRef, type ReactNode } from 'react';
import { Button } from './button.js';
import type { TagRow } from './tags.js';

interface TagRowsProps {
  readonly rows: readonly TagRow[];
  readonly onChange: (rows: readonly TagRow[]) => void;
  /** What is wrong with the rows, or null. */
  readonly problem: string | null;
}

/** Names and values of tags, one row each. */
export function TagRows({ rows, onChange, problem }: TagRowsProps): ReactNode {
  const group = useRef<HTMLFieldSetElement>(null);
  const change = (at: number, part: Partial<TagRow>): void =>
    onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  const remove = (at: number): void => {
    onChange(rows.toSpliced(at, 1));
    // The button that had the focus disappears.
    group.current?.querySelector<HTMLElement>('.tag-add .button')?.focus();
  };
  return (
    <fieldset className="tag-rows" ref={group}>
      <legend>Tags</legend>
      {rows.map(({ name, value }, at) => (
        <div key={at} className="tag-row">
          <input
            aria-label={`Name of tag ${at + 1}`}
            placeholder="name"
            value={name}
            spellCheck={false}
            aria-invalid={problem !== null}
            onChange={({ target }) => change(at, { name: target.value })}
          />
          <input
            aria-label={`Value of tag ${at + 1}`}
            placeholder="value"
            value={value}
            spellCheck={false}
            onChange={({ target }) => change(at, { value: target.value })}
          />
          <Button isSmall variant="quiet" label={`Remove tag ${at + 1}`} onPress={() => remove(at)}>
            Remove
          </Button>
        </div>
      ))}
      {problem !== null && (
        <p className="form-message" role="status">
          {problem}
        </p>
      )}
      <div className="tag-add">
        <Button isSmall onPress={() => onChange([...rows, { name: '', value: '' }])}>
          Add a tag
        </Button>
      </div>
    </fieldset>
  );
}
