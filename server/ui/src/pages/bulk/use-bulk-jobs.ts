/** Bulk jobs of the server. The change stream does not report them, so the page polls running jobs. */
import type { BulkJob, BulkJobSummary, Page } from '@stepwright/sdk';
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useSession } from '../../app/session.js';

/** How often a running job is read. */
const PROGRESS_MS = 1000;
const LIST_MS = 5000;

export function useBulkJob(id: string | null): UseQueryResult<BulkJob> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['bulk job', id],
    queryFn: ({ signal }) => client.bulk.get(id ?? '', { signal }),
    enabled: id !== null,
    refetchInterval: ({ state }) => (state.data?.state === 'Running' ? PROGRESS_MS : false),
  });
}

export function useBulkJobs(cursor: string | undefined): UseQueryResult<Page<BulkJobSummary>> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['bulk jobs', cursor ?? null],
    queryFn: ({ signal }) => client.bulk.list({ limit: 50, signal }).page(cursor),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.items.some((job) => job.state === 'Running') === true ? PROGRESS_MS : LIST_MS,
  });
}
