import { useEffect, useRef, type ReactNode } from 'react';

interface PageProps {
  /** The heading, and the title of the tab. */
  readonly title: string;
  readonly heading?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

let isFirstPage = true;

/** What is right of the navigation. Its heading takes the focus when one comes from another page. */
export function Page({ title, heading, actions, children }: PageProps): ReactNode {
  const headingRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Stepwright`;
  }, [title]);
  useEffect(() => {
    // A page that was just loaded has its focus where the browser puts it.
    if (!isFirstPage) headingRef.current?.focus({ preventScroll: true });
    isFirstPage = false;
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
