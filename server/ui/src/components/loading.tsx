import type { ReactNode } from 'react';

/** Shown while the first response is pending. It appears with a delay, so that fast responses do not make it flicker. */
export function Loading(): ReactNode {
  return (
    <p className="loading" role="status">
      Loading …
    </p>
  );
}
