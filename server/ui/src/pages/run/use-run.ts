/** The queries of the page of one run, kept current by the change stream. */
import type {
  DataObject,
  Explanation,
  StepExecution,
  StepwrightClient,
  Workflow,
  WorkflowAction,
} from '@stepwright/sdk';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useLive, usePollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { useThrottled } from '../../app/use-throttled.js';

/**
 * Graph, timeline and data of a long run use its first executions, which no longer change, and its newest ones. The list
 * of steps shows all, in pages.
 */
const FIRST_COUNT = 500;
const NEWEST_COUNT = 1000;
const EXECUTIONS_PER_CALL = 500;
/** The highest number of children that is counted. */
export const CHILD_COUNT_MAX = 99;
/** Explanations contain durations such as "for 12 min", which become outdated. */
const EXPLAIN_AGAIN_MS = 10_000;

export interface Executions {
  /** The ended executions in order, then the open ones. */
  readonly items: readonly StepExecution[];
  /** Whether executions between the first and the newest ones are left out. */
  readonly isCut: boolean;
}

/** The executions that are used if `isCut`, in words. */
export const CUT_WORDS = `the first ${FIRST_COUNT} and the most recent ${NEWEST_COUNT} executions`;

/** Fetches everything about a run again, after an action. */
export function useRereadRun(workflowId: string): () => void {
  const queries = useQueryClient();
  return useCallback(
    () => void queries.invalidateQueries({ queryKey: ['run', workflowId] }),
    [queries, workflowId],
  );
}

/** Fetches the run again when it changes. Call it once on the page of a run. */
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

/** The data that a run was started with, which never change. */
export function useRunInput(workflowId: string, isWanted: boolean): UseQueryResult<DataObject> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['input of run', workflowId],
    queryFn: ({ signal }) => client.workflows.input(workflowId, { signal }),
    staleTime: Infinity,
    enabled: isWanted,
  });
}

export function useExplanation(workflowId: string, isOpen: boolean): UseQueryResult<Explanation> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['run', workflowId, 'explain'],
    queryFn: ({ signal }) => client.workflows.explain(workflowId, { signal }),
    refetchInterval: isOpen ? EXPLAIN_AGAIN_MS : false,
  });
}

export function useExecutions(workflowId: string): UseQueryResult<Executions> {
  const { client } = useSession();
  const queries = useQueryClient();
  const poll = usePollInterval();
  return useQuery({
    queryKey: ['run', workflowId, 'executions'],
    queryFn: async ({ signal }): Promise<Executions> => {
      const { newest, isAll } = await readNewest(client, workflowId, signal);
      if (isAll) return { items: newest, isCut: false };
      const { items: first } = await queries.query({
        queryKey: ['beginning of run', workflowId],
        queryFn: () => client.workflows.steps(workflowId, { limit: FIRST_COUNT }).page(),
        staleTime: Infinity,
      });
      const keys = new Set(first.map(keyOf));
      const rest = newest.filter((execution) => !keys.has(keyOf(execution)));
      return { items: [...first, ...rest], isCut: rest.length === newest.length };
    },
    refetchInterval: poll,
  });
}

/** The newest executions, in chronological order. */
async function readNewest(
  client: StepwrightClient,
  workflowId: string,
  signal: AbortSignal,
): Promise<{ readonly newest: readonly StepExecution[]; readonly isAll: boolean }> {
  const items: StepExecution[] = [];
  const options = { order: 'desc', limit: EXECUTIONS_PER_CALL, signal } as const;
  for await (const page of client.workflows.steps(workflowId, options).pages()) {
    items.push(...page.items);
    if (items.length >= NEWEST_COUNT) {
      return { newest: items.toReversed(), isAll: page.nextCursor === null };
    }
  }
  return { newest: items.toReversed(), isAll: true };
}

/** Identifies one attempt of one execution. */
function keyOf({ attempt, executionId }: StepExecution): string {
  return `${executionId}/${attempt}`;
}

/** At most `CHILD_COUNT_MAX` + 1. A child appears later than the change of its parent that starts it. */
export function useChildCount(workflowId: string): UseQueryResult<number> {
  const { client } = useSession();
  const children = useQuery({
    queryKey: ['run', workflowId, 'child count'],
    queryFn: async ({ signal }) => {
      const query = { parent: workflowId, limit: CHILD_COUNT_MAX + 1, signal };
      return (await client.workflows.list(query).page()).items.length;
    },
    refetchInterval: usePollInterval(),
  });
  const { refetch } = children;
  const reread = useThrottled(
    useCallback(() => void refetch(), [refetch]),
    1000,
  );
  useLive(({ workflows }) => {
    const started = [...workflows.values()];
    if (started.some(({ parent }) => parent?.workflowId === workflowId)) reread();
  });
  return children;
}

export function useAudit(workflowId: string): UseQueryResult<readonly WorkflowAction[]> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['run', workflowId, 'audit'],
    queryFn: ({ signal }) => client.workflows.audit(workflowId, { signal }),
  });
}
