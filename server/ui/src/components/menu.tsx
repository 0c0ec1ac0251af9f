import { useRef, type KeyboardEvent, type ReactNode } from 'react';

/** A button that shows further buttons and links. It closes after a choice, and on Escape. */
export function Menu({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}): ReactNode {
  const element = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (element.current !== null) element.current.open = false;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    close();
    element.current?.querySelector('summary')?.focus();
  };
  return (
    <details
      className="menu"
      ref={element}
      onKeyDown={onKeyDown}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) close();
      }}
    >
      <summary className="button">{label}</summary>
      <div role="group" aria-label={label} className="panel" onClick={close}>
        {children}
      </div>
    </details>
  );
}
