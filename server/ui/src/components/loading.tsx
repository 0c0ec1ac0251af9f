import type { ReactNode } from 'react';

/** While the first answer is on its way; appears late, so that quick answers do not make it flicker. */
export function Loading(): ReactNode {
  return (
    <p className="loading" role="status">
      Loading …
    </p>
  );
}
