import type { ProblemItem } from '@stepwright/sdk';
import type { ReactNode } from 'react';

/** A list item with one error or warning of the server about a document, and its position. */
export function Finding({
  item,
  kind,
}: {
  readonly item: ProblemItem;
  readonly kind: 'error' | 'warning';
}): ReactNode {
  const { line, column, pointer, message } = item;
  return (
    <li>
      <span className={kind === 'error' ? 'badge bad' : 'badge warning'}>{kind}</span>{' '}
      <code className="quiet">
        {line === undefined ? pointer : `line ${line}, column ${column ?? 1}`}
      </code>{' '}
      <bdi>{message}</bdi>
    </li>
  );
}
