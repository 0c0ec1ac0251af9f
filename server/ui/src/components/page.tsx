import { useEffect, useRef, type ReactNode } from 'react';

interface PageProps {
  /** The heading, and the title of the tab. */
  readonly title: string;
  readonly heading?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** Where the tab was opened: null before its first page. There the focus is where the browser puts it. */
let firstPath: string | null = null;
let hasNavigated = false;

/** What is right of the navigation. Its heading takes the focus when one comes from another page. */
export function Page({ title, heading, actions, children }: PageProps): ReactNode {
  const headingRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Stepwright`;
  }, [title]);
  useEffect(() => {
    const { pathname } = window.location;
    firstPath ??= pathname;
    hasNavigated ||= pathname !== firstPath;
    if (!hasNavigated) return;
    headingRef.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, []);
  return (
    <>
      <header className="page-header">
        <h1 ref={headingRef} tabIndex={-1}>
          {heading ?? title}
        </h1>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}
