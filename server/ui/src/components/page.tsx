import { useEffect, useRef, type ReactNode } from 'react';

interface PageProps {
  /** The title of the tab, and the heading unless `heading` is given. */
  readonly title: string;
  readonly heading?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The first path of the tab; null before its first page. On this page, the browser sets the focus. */
let firstPath: string | null = null;
let hasNavigated = false;

/** The frame of a page: title, actions and content. Its heading receives the focus after navigation from another page. */
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
