/** Asks before the user leaves a page with unsaved edits: by a link, by Back, by reloading or by closing the tab. */
import { useEffect } from 'react';

const QUESTION = 'Leave this page? Your changes will be lost.';

/** The address of the page with unsaved edits. */
let address: string | null = null;

/**
 * Call it before the router is rendered: the browser calls `popstate` listeners in the order in which they were added, and the
 * router must not see a navigation that the user cancels.
 */
export function guardUnsavedEdits(): void {
  addEventListener('beforeunload', (event) => {
    if (address !== null) event.preventDefault();
  });
  addEventListener('popstate', (event) => {
    if (mayLeave(window.location.href)) return;
    event.stopImmediatePropagation();
    window.history.forward();
  });
  // In the capture phase, before the router handles the click.
  document.addEventListener('click', guardLink, { capture: true });
}

function guardLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  const opensHere = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (!(link instanceof HTMLAnchorElement) || !opensHere || link.download !== '') return;
  if (mayLeave(link.href)) return;
  event.preventDefault();
  event.stopPropagation();
}

function mayLeave(next: string): boolean {
  return address === null || isSamePage(next, address) || window.confirm(QUESTION);
}

/** A link within the page, such as the skip link, doesn't leave it. */
function isSamePage(one: string, other: string): boolean {
  return one.split('#')[0] === other.split('#')[0];
}

/** Guards the page at the current address while there are unsaved edits. */
export function useUnsavedWarning(hasEdits: boolean): void {
  useEffect(() => {
    if (!hasEdits) return undefined;
    address = window.location.href;
    return () => {
      address = null;
    };
  }, [hasEdits]);
}
