/** The number of runs that match a filter. The server counts up to 10,000. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useLive, usePollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { useThrottled } from '../../app/use-throttled.js';
import { selectionKey, toQuery, type RunFilter } from './run-filter.js';

/** The server's response. */
export interface RunCount {
  readonly count: number;
  /** False if there are more. */
  readonly exact: boolean;
}

/** The minimum time between two counts while runs change: a count reads more than a page. */
const RECOUNT_MS = 10_000;

/** Undefined until the runs have been counted. */
export function useRunCount(filter: RunFilter): RunCount | undefined {
  const { client } = useSession();
  const queries = useQueryClient();
  const text = selectionKey(filter);
  const count = useQuery({
    queryKey: ['run count', text],
    queryFn: ({ signal }) => client.workflows.count({ ...toQuery(filter, Date.now()), signal }),
    refetchInterval: usePollInterval(),
  });
  const recount = useThrottled(
    useCallback(
      () => void queries.invalidateQueries({ queryKey: ['run count', text] }),
      [queries, text],
    ),
    RECOUNT_MS,
  );
  useLive(({ workflows, lag }) => {
    if (lag || workflows.size > 0) recount();
  });
  return count.data;
}

/** `1,234`, or `10,000+` if there are more. */
export function countText({ count, exact }: RunCount): string {
  return `${count.toLocaleString('en')}${exact ? '' : '+'}`;
}

/** `1,234 runs`, `10,000+ runs`. */
export function runsText(count: RunCount): string {
  return `${countText(count)} ${count.count === 1 && count.exact ? 'run' : 'runs'}`;
}
