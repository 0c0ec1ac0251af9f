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
export const NEWEST_COUNT = 1000;
const EXECUTIONS_PER_CALL = 500;
/** The number of executions that a run usually ends and starts between two reads, in addition to its open ones. */
const CHANGED_PER_CALL = 8;
/** The highest number of children that is counted. */
export const CHILD_COUNT_MAX = 99;
/** The change stream does not report that a worker polled, or that the lease of a work item ended. */
const EXPLAIN_AGAIN_MS = 10_000;

export interface Executions {
  /** The ended executions in order, then the open ones. */
  readonly items: readonly StepExecution[];
  /** Whether executions between the first and the newest ones are left out. */
  readonly isCut: boolean;
}

/** The newest executions that have been read, in order; ended ones no longer change. */
interface Newest {
  readonly items: readonly StepExecution[];
  /** Whether the run has no others. */
  readonly isAll: boolean;
}

interface ReadExecutions extends Executions {
  readonly newest: Newest;
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

/** Parts that seldom change while the run does; the page rereads them immediately after its own actions. */
const isSlow = (part: unknown): boolean => part === 'audit' || part === 'child count';
/** A filtered list of steps may be a long search, so it decides itself when to read again. */
const isPaced = (part: unknown): boolean => part === 'steps';
const SLOW_REREAD_MS = 10_000;

/** A run that keeps changing is read less often, so that viewers don't slow down the server. */
function pauseOfReads(inARow: number): number {
  return inARow > 5 ? 2500 : 1000;
}

/** Fetches the run again when it changes. Call it once on the page of a run. */
export function useLiveRun(workflowId: string): void {
  const queries = useQueryClient();
  const rereadPart = useCallback(
    (isWanted: (part: unknown) => boolean) =>
      void queries.invalidateQueries({
        queryKey: ['run', workflowId],
        predicate: ({ queryKey }) => isWanted(queryKey[2]),
      }),
    [queries, workflowId],
  );
  const reread = useThrottled(
    () => rereadPart((part) => !isSlow(part) && !isPaced(part)),
    pauseOfReads,
  );
  const rereadSlow = useThrottled(() => rereadPart(isSlow), SLOW_REREAD_MS);
  useLive(({ workflows, lag }) => {
    if (!lag && !workflows.has(workflowId)) return;
    reread();
    rereadSlow();
  });
}

export function useRun(workflowId: string, isWanted = true): UseQueryResult<Workflow> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['run', workflowId, 'itself'],
    queryFn: ({ signal }) => client.workflows.get(workflowId, { signal }),
    refetchInterval: usePollInterval(),
    enabled: isWanted,
  });
}

/** The data that a run was started with, which never changes. */
export function useRunInput(workflowId: string, isWanted: boolean): UseQueryResult<DataObject> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['input of run', workflowId],
    queryFn: ({ signal }) => client.workflows.input(workflowId, { signal }),
    staleTime: Infinity,
    enabled: isWanted,
  });
}

/** There is no run with this id. */
export class UnknownRun extends Error {}

/**
 * Fails with `UnknownRun` without an error of the API, which browsers report on their console. So the page of a run begins
 * with the explanation.
 */
export function useExplanation(workflowId: string): UseQueryResult<Explanation> {
  const { client } = useSession();
  return useQuery({
    queryKey: ['run', workflowId, 'explain'],
    queryFn: async ({ signal }) => {
      const { items } = await client.workflows.explainMany([workflowId], { signal });
      const [explanation] = items;
      if (explanation === undefined) throw new UnknownRun();
      return explanation;
    },
    // An ended run no longer changes.
    refetchInterval: ({ state }) =>
      (state.data?.outcome ?? null) === null ? EXPLAIN_AGAIN_MS : false,
  });
}

export function useExecutions(workflowId: string): UseQueryResult<Executions> {
  const { client } = useSession();
  const queries = useQueryClient();
  const queryKey = ['run', workflowId, 'executions'];
  return useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<ReadExecutions> => {
      // Several components use this query, and each of them may continue what another has read.
      const before = queries.getQueryData<ReadExecutions>(queryKey)?.newest ?? null;
      const newest = await readNewest({ client, workflowId, signal, before });
      if (newest.isAll) return { items: newest.items, isCut: false, newest };
      const { items: first } = await queries.query({
        queryKey: ['beginning of run', workflowId],
        queryFn: () => client.workflows.steps(workflowId, { limit: FIRST_COUNT }).page(),
        staleTime: Infinity,
      });
      const keys = new Set(first.map(keyOf));
      const rest = newest.items.filter((execution) => !keys.has(keyOf(execution)));
      return { items: [...first, ...rest], isCut: rest.length === newest.items.length, newest };
    },
    refetchInterval: usePollInterval(),
  });
}

/** Reads back to the newest ended execution that is known: a long run would otherwise be read again and again. */
async function readNewest({
  client,
  workflowId,
  signal,
  before,
}: {
  readonly client: StepwrightClient;
  readonly workflowId: string;
  readonly signal: AbortSignal;
  readonly before: Newest | null;
}): Promise<Newest> {
  const ended = before?.items.filter(({ endTime }) => endTime !== null) ?? [];
  const known = new Set(ended.map(keyOf));
  const changedMax = (before?.items.length ?? 0) - ended.length + CHANGED_PER_CALL;
  const items: StepExecution[] = [];
  let cursor: string | undefined;
  let limit = known.size > 0 ? Math.min(changedMax, EXECUTIONS_PER_CALL) : EXECUTIONS_PER_CALL;
  while (items.length < NEWEST_COUNT) {
    const list = client.workflows.steps(workflowId, { order: 'desc', limit, signal });
    const page = await list.page(cursor);
    const at = page.items.findIndex((execution) => known.has(keyOf(execution)));
    items.push(...(at === -1 ? page.items : page.items.slice(0, at)));
    if (at !== -1) return cut([...ended, ...items.reverse()], before?.isAll === true);
    if (page.nextCursor === null) return { items: items.reverse(), isAll: true };
    cursor = page.nextCursor;
    limit = Math.min(4 * limit, EXECUTIONS_PER_CALL);
  }
  return { items: items.reverse(), isAll: false };
}

function cut(items: readonly StepExecution[], isAll: boolean): Newest {
  return { items: items.slice(-NEWEST_COUNT), isAll: isAll && items.length <= NEWEST_COUNT };
}

/** Identifies one state of one attempt of one execution. */
function keyOf({ attempt, endTime, executionId, status }: StepExecution): string {
  return `${executionId}/${attempt}/${status}/${endTime ?? ''}`;
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
