import type { ReactNode } from 'react';

interface ViewChoiceProps<View extends string> {
  /** The accessible name of the group. */
  readonly label: string;
  /** The label of each view, in order. */
  readonly views: Readonly<Partial<Record<View, string>>>;
  readonly view: View;
  readonly onChoose: (view: View) => void;
  /** Why a view cannot be chosen now; null if it can. */
  readonly refusal?: (view: View) => string | null;
}

/** Buttons that choose one of several views of the same thing. */
export function ViewChoice<View extends string>(props: ViewChoiceProps<View>): ReactNode {
  const { label, views, view, onChoose, refusal = () => null } = props;
  // Object.entries loses the type of the keys.
  const entries = Object.entries(views) as [View, string][];
  return (
    <span className="view-choice" role="group" aria-label={label}>
      {entries.map(([name, text]) => {
        const reason = refusal(name);
        return (
          <button
            key={name}
            type="button"
            aria-pressed={view === name}
            disabled={reason !== null}
            title={reason ?? undefined}
            onClick={() => onChoose(name)}
          >
            {text}
          </button>
        );
      })}
    </span>
  );
}
