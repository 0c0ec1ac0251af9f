/** A list of the API in pages: its query, and the table with everything around it. */
import type { Page, PagedList } from '@stepwright/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DataTable, type Column } from './data-table.js';
import { Loading } from './loading.js';
import { Pager, usePaging, type Paging } from './pager.js';
import { ProblemView } from './problem-view.js';

interface PagedQueryOptions<Item> {
  /** Identifies the list, with its filter. Another key starts at the first page. */
  readonly key: readonly string[];
  readonly list: (options: {
    readonly limit: number;
    readonly signal: AbortSignal;
  }) => PagedList<Item>;
  readonly pageSize?: number;
  readonly refetchInterval?: number | false;
}

export interface PagedQuery<Item> {
  readonly page: Page<Item> | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  /** The page is still that of an earlier key or position. */
  readonly isStale: boolean;
  readonly paging: Paging;
  readonly refetch: () => void;
}

export function usePagedQuery<Item>(options: PagedQueryOptions<Item>): PagedQuery<Item> {
  const { key, list, pageSize = 50, refetchInterval = false } = options;
  const paging = usePaging(JSON.stringify(key));
  const query = useQuery({
    queryKey: [...key, paging.cursor ?? null],
    queryFn: ({ signal }) => list({ limit: pageSize, signal }).page(paging.cursor),
    placeholderData: keepPreviousData,
    refetchInterval,
  });
  return {
    page: query.data,
    error: query.error,
    isPending: query.isPending,
    isStale: query.isPlaceholderData,
    paging,
    refetch: () => void query.refetch(),
  };
}

interface PagedTableProps<Item> {
  readonly list: PagedQuery<Item>;
  /** The accessible name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly rowKey: (item: Item) => string;
  /** Shown instead of a table without rows. */
  readonly empty: ReactNode;
  /** Shown above a table with rows. */
  readonly note?: ReactNode;
}

export function PagedTable<Item>(props: PagedTableProps<Item>): ReactNode {
  const { list, label, columns, rowKey, empty, note } = props;
  const { page, error, isPending, isStale, paging, refetch } = list;
  return (
    <>
      {error !== null && <ProblemView error={error} onRetry={refetch} />}
      {isPending && <Loading />}
      {page?.items.length === 0 && empty}
      {page !== undefined && page.items.length > 0 && (
        <>
          {note}
          <DataTable {...{ label, columns, rowKey }} rows={page.items} />
        </>
      )}
      {/* Also shown below a page without rows, because with a filter, other pages can have some. */}
      {page !== undefined && <Pager {...{ paging, isStale }} nextCursor={page.nextCursor} />}
    </>
  );
}
