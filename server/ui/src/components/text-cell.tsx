/** Untrusted text in a table cell, truncated if it is long. */
import type { ReactNode } from 'react';

export function TextCell({ text }: { readonly text: string }): ReactNode {
  if (text === '') return <span className="none">–</span>;
  return (
    <span className="clip" title={text}>
      <bdi>{text}</bdi>
    </span>
  );
}
