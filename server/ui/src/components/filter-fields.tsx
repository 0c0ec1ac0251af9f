import { useId, useState, type ReactNode } from 'react';

/** The fields of a filter. In a narrow window, they are collapsed to one line until the user opens them. */
export function FilterFields({
  label,
  count,
  children,
}: {
  /** The accessible name of the group. */
  readonly label: string;
  /** The number of fields that are set. */
  readonly count: number;
  readonly children: ReactNode;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const fieldsId = useId();
  return (
    <div role="group" aria-label={label}>
      <button
        type="button"
        className="filter-fold"
        aria-expanded={isOpen}
        aria-controls={fieldsId}
        onClick={() => setOpen(!isOpen)}
      >
        {count === 0 ? 'Filters' : `Filters (${count})`}
      </button>
      <div className={isOpen ? 'filter-bar open' : 'filter-bar'} id={fieldsId}>
        {children}
      </div>
    </div>
  );
}
