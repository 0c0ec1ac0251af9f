/**
 * One page of runs, kept current by the change stream: rows change in place, new runs are counted or added at the top.
 */
import type { ChangedWorkflow, Page, WorkflowSummary } from '@stepwright/sdk';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLive, usePollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { useThrottled } from '../../app/use-throttled.js';
import { matches, selectionKey, toQuery, type RunFilter, type RunQuery } from './run-filter.js';

export const PAGE_SIZE = 50;
/** The maximum number of new runs counted. */
export const NEW_COUNT_MAX = 999;
/** Maximum number of changes kept while a list is being fetched: far more than a page shows. */
const CHANGES_MAX = 5000;
/** The minimum time between two fetches after `lag` changes. */
const REREAD_MS = 2000;

export interface Runs {
  readonly page: Page<WorkflowSummary> | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  /** The page still belongs to an earlier filter or position. */
  readonly isStale: boolean;
  /** Number of runs that have started since, and aren't shown. */
  readonly newCount: number;
  readonly refetch: () => void;
}

interface RunsOptions {
  readonly filter: RunFilter;
  readonly cursor: string | undefined;
  /** Whether rows may move now, because the user is not pointing at them. */
  readonly mayInsert: () => boolean;
  /** Whether the list depends on tags, index fields or the queue, which the change stream does not report. */
  readonly needsFields: boolean;
}

/** The common prefix of the cache keys of a list's pages. */
export function runsKey(filter: RunFilter): readonly string[] {
  return ['runs', selectionKey(filter)];
}

export function useRuns({ filter, cursor, mayInsert, needsFields }: RunsOptions): Runs {
  const { client } = useSession();
  const queries = useQueryClient();
  const key = [...runsKey(filter), cursor ?? null];
  const keyText = JSON.stringify(key);
  const [fresh, setFresh] = useState<{ readonly key: string; readonly ids: ReadonlySet<string> }>({
    key: keyText,
    ids: new Set<string>(),
  });
  // Changes that arrive while a list is being fetched: the list may not contain them.
  const changedMeanwhile = useRef(new Map<string, ChangedWorkflow>());
  const runs = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const query = toQuery(filter, Date.now());
      changedMeanwhile.current = new Map();
      const page = await client.workflows.list({ ...query, limit: PAGE_SIZE, signal }).page(cursor);
      setFresh({ key: keyText, ids: new Set() });
      return withNewer(page, changedMeanwhile.current);
    },
    placeholderData: keepPreviousData,
    refetchInterval: usePollInterval(),
  });
  const { refetch } = runs;
  const reread = useThrottled(() => void refetch(), REREAD_MS);
  useLive(({ workflows, lag }) => {
    const page = queries.getQueryData<Page<WorkflowSummary>>(key);
    if (lag) reread();
    if (queries.isFetching({ queryKey: key }) > 0) {
      for (const [id, run] of workflows) {
        if (changedMeanwhile.current.size < CHANGES_MAX) changedMeanwhile.current.set(id, run);
      }
    }
    if (page === undefined || workflows.size === 0) return;
    const query = toQuery(filter, Date.now());
    // The position of a new run is known only in a list ordered by start time.
    const isOrderedByStart = query.failedFrom === undefined && query.unchangedSince === undefined;
    const added = addedRuns(page, workflows, query);
    const isTop = cursor === undefined && isOrderedByStart;
    const isShown = page.items.some(({ workflowId }) => workflows.has(workflowId));
    const isIncomplete = needsFields && (isShown || added.length > 0);
    const isMoved = !isOrderedByStart && added.length > 0;
    if (isIncomplete || isMoved || hasNewFailure([...page.items, ...added], workflows)) reread();
    const inserted = isTop && !needsFields && mayInsert() ? added : [];
    if (inserted.length > 0 || isShown) {
      queries.setQueryData(key, changedPage(page, workflows, inserted));
    }
    if (isTop && !needsFields && inserted.length === 0 && added.length > 0) {
      setFresh((before) => ({ key: keyText, ids: withIds(before, keyText, added) }));
    }
  });

  return {
    page: runs.data,
    error: runs.error,
    isPending: runs.isPending,
    isStale: runs.isPlaceholderData,
    newCount: fresh.key === keyText ? fresh.ids.size : 0,
    refetch: () => void refetch(),
  };
}

/** The changed runs that match the filter and started after the newest shown run. */
function addedRuns(
  page: Page<WorkflowSummary>,
  changes: ReadonlyMap<string, ChangedWorkflow>,
  query: RunQuery,
): WorkflowSummary[] {
  const shown = new Set(page.items.map(({ workflowId }) => workflowId));
  const newest = page.items[0]?.startTime ?? '';
  // The change stream has neither tags nor index fields nor the priority and fairness, and doesn't say whether a run is queued.
  return [...changes.values()]
    .filter((run) => !shown.has(run.workflowId) && run.startTime >= newest && matches(run, query))
    .map((run): WorkflowSummary => ({
      ...run,
      tags: {},
      index: {},
      priority: 3,
      fairnessKey: null,
      fairnessWeight: null,
      queued: false,
      failure: null,
    }))
    .sort((a, b) => (a.startTime < b.startTime ? 1 : -1));
}

function changedPage(
  page: Page<WorkflowSummary>,
  changes: ReadonlyMap<string, ChangedWorkflow>,
  inserted: readonly WorkflowSummary[],
): Page<WorkflowSummary> {
  const items = page.items.map((run) => withChange(run, changes.get(run.workflowId)));
  // Rows dropped at the end appear on no page until the list is fetched again: the next page starts at its cursor.
  return { ...page, items: [...inserted, ...items].slice(0, Math.max(PAGE_SIZE, items.length)) };
}

function withNewer(
  page: Page<WorkflowSummary>,
  changes: ReadonlyMap<string, ChangedWorkflow>,
): Page<WorkflowSummary> {
  const items = page.items.map((run) => {
    const change = changes.get(run.workflowId);
    const isNewer = change !== undefined && change.lastChangeTime >= run.lastChangeTime;
    return isNewer ? withChange(run, change) : run;
  });
  return { ...page, items };
}

/** The changed run, with the tags, index fields, priority, fairness and failure that are known. */
function withChange(run: WorkflowSummary, change: ChangedWorkflow | undefined): WorkflowSummary {
  if (change === undefined) return run;
  const { fairnessKey, fairnessWeight, index, priority, queued, tags } = run;
  const order = { priority, fairnessKey, fairnessWeight, queued };
  const failure = change.failureTime === run.failureTime ? run.failure : null;
  return { ...change, failure, index, ...order, tags };
}

/** True if a shown run has failed for a reason that the change doesn't contain. */
function hasNewFailure(
  items: readonly WorkflowSummary[],
  changes: ReadonlyMap<string, ChangedWorkflow>,
): boolean {
  return items.some(({ failure, failureTime, workflowId }) => {
    const change = changes.get(workflowId);
    if (change?.outcome !== 'Failed') return false;
    return failure === null || change.failureTime !== failureTime;
  });
}

function withIds(
  before: { readonly key: string; readonly ids: ReadonlySet<string> },
  key: string,
  added: readonly WorkflowSummary[],
): ReadonlySet<string> {
  const ids = new Set(before.key === key ? before.ids : []);
  for (const { workflowId } of added) {
    if (ids.size <= NEW_COUNT_MAX) ids.add(workflowId);
  }
  return ids;
}
