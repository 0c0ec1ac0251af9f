/** Everything that the page of one run shows, kept true by the live stream. */
import type { StepExecution, Workflow } from '@stepwright/sdk';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { AuditEntry, Explanation } from '../../api/operator-api.js';
import { useLive, usePollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { useThrottled } from '../../app/use-throttled.js';

/** Graph, timeline and data look at so many executions at most; the list of steps goes on in pages. */
export const EXECUTIONS_MAX = 2000;
const EXECUTIONS_PER_CALL = 500;
/** Words such as "since 12 min" grow old. */
const EXPLAIN_AGAIN_MS = 10_000;

export interface Executions {
  readonly items: readonly StepExecution[];
  /** There are more than are looked at. */
  readonly isCut: boolean;
}

/** Reads all of them again, now that something was done. */
export function useRereadRun(workflowId: string): () => void {
  const queries = useQueryClient();
  return useCallback(
    () => void queries.invalidateQueries({ queryKey: ['run', workflowId] }),
    [queries, workflowId],
  );
}

/** Call it once on the page of a run. */
export function useLiveRun(workflowId: string): void {
  const reread = useThrottled(useRereadRun(workflowId), 1000);
  useLive(({ workflows, lag }) => {
    if (lag || workflows.has(workflowId)) reread();
  });
}

export function useRun(workflowId: string): UseQueryResult<Workflow> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['run', workflowId, 'itself'],
    queryFn: ({ signal }) => client.workflows.get(workflowId, { signal }),
    refetchInterval: usePollInterval(),
  });
}

export function useExplanation(workflowId: string, isOpen: boolean): UseQueryResult<Explanation> {
  const { api } = useSession();
  return useQuery({
    queryKey: ['run', workflowId, 'explain'],
    queryFn: ({ signal }) => api.explain(workflowId, signal),
    refetchInterval: isOpen ? EXPLAIN_AGAIN_MS : false,
  });
}

export function useExecutions(workflowId: string): UseQueryResult<Executions> {
  const { client } = useSession();
  const poll = usePollInterval();
  return useQuery({
    queryKey: ['run', workflowId, 'executions'],
    queryFn: async ({ signal }): Promise<Executions> => {
      const items: StepExecution[] = [];
      const list = client.workflows.steps(workflowId, { limit: EXECUTIONS_PER_CALL, signal });
      for await (const page of list.pages()) {
        items.push(...page.items);
        if (items.length >= EXECUTIONS_MAX) return { items, isCut: page.nextCursor !== null };
      }
      return { items, isCut: false };
    },
    refetchInterval: poll,
  });
}

export function useAudit(workflowId: string): UseQueryResult<readonly AuditEntry[]> {
  const { api } = useSession();
  return useQuery({
    queryKey: ['run', workflowId, 'audit'],
    queryFn: ({ signal }) => api.audit(workflowId, signal),
  });
}
