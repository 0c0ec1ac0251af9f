import { useState, type ReactNode } from 'react';
import { Button } from './button.js';

export interface Paging {
  /** Undefined on the first page. */
  readonly cursor: string | undefined;
  readonly pageNumber: number;
  readonly next: (cursor: string) => void;
  readonly previous: () => void;
  readonly first: () => void;
}

/** Keeps the cursors of the pages visited so far; starts over when `listKey` changes. */
export function usePaging(listKey: string): Paging {
  const [state, setState] = useState<{ readonly key: string; readonly cursors: readonly string[] }>(
    {
      key: listKey,
      cursors: [],
    },
  );
  const cursors = state.key === listKey ? state.cursors : [];
  const go = (next: readonly string[]): void => setState({ key: listKey, cursors: next });
  return {
    cursor: cursors.at(-1),
    pageNumber: cursors.length + 1,
    next: (cursor) => go([...cursors, cursor]),
    previous: () => go(cursors.slice(0, -1)),
    first: () => go([]),
  };
}

/** The paging buttons below a list. */
export function Pager({
  paging,
  nextCursor,
  isStale,
  children,
}: {
  readonly paging: Paging;
  readonly nextCursor: string | null;
  /** The list still shows the previous content, whose cursor belongs to another order, filter or page. */
  readonly isStale: boolean;
  readonly children?: ReactNode;
}): ReactNode {
  if (paging.pageNumber === 1 && nextCursor === null) {
    return <div className="pager">{children}</div>;
  }
  return (
    <nav className="pager" aria-label="Pages">
      {children}
      <span className="pager-buttons">
        <Button isSmall isDisabled={paging.pageNumber < 3} onPress={() => paging.first()}>
          First
        </Button>
        <Button isSmall isDisabled={paging.pageNumber === 1} onPress={() => paging.previous()}>
          Previous
        </Button>
        <span className="pager-number">Page {paging.pageNumber}</span>
        <Button
          isSmall
          isDisabled={nextCursor === null || isStale}
          onPress={() => nextCursor !== null && paging.next(nextCursor)}
        >
          Next
        </Button>
      </span>
    </nav>
  );
}
