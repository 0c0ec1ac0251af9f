import type { WorkflowSummary } from '@stepwright/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { toPath } from '../../app/path.js';
import { DataTable, type Column, type Selection } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { Pager, usePaging } from '../../components/pager.js';
import { ProblemView } from '../../components/problem-view.js';
import { OutcomeBadge, StatusBadge } from '../../components/status-badge.js';
import { durationText, TimeAgo, useNow } from '../../components/time-ago.js';
import { BulkBar, type Matching } from './bulk-bar.js';
import { FilterBar, PresetBar } from './filter-bar.js';
import {
  filterText,
  matches,
  parentIn,
  readFilter,
  runsPath,
  toQuery,
  WITH_CHILDREN,
  type RunFilter,
  type RunQuery,
} from './run-filter.js';
import { SearchBox } from './search-box.js';
import { useBulkJob, type BulkControl, type BulkJob } from './use-bulk-job.js';
import { NEW_COUNT_MAX, useRuns } from './use-runs.js';

const COLUMNS: readonly Column<WorkflowSummary>[] = [
  { key: 'status', header: 'Status', cell: (run) => <StatusCell run={run} /> },
  { key: 'outcome', header: 'Outcome', cell: (run) => <OutcomeCell run={run} /> },
  { key: 'id', header: 'Run', kind: 'id', cell: (run) => <IdCell run={run} /> },
  {
    key: 'definition',
    header: 'Definition',
    kind: 'wide',
    cell: ({ definitionId, version }) => (
      <span className="clip" title={definitionId}>
        <bdi>{definitionId}</bdi> <span className="quiet">v{version}</span>
      </span>
    ),
  },
  {
    key: 'reference',
    header: 'Reference',
    kind: 'wide',
    cell: ({ reference }) =>
      reference === null ? (
        <span className="none">–</span>
      ) : (
        <span className="clip" title={reference}>
          <bdi>{reference}</bdi>
        </span>
      ),
  },
  {
    key: 'start',
    header: 'Started',
    kind: 'time',
    cell: (run) => <TimeAgo time={run.startTime} />,
  },
  {
    key: 'change',
    header: 'Changed',
    kind: 'time',
    cell: (run) => <TimeAgo time={run.lastChangeTime} />,
  },
  { key: 'took', header: 'Duration', kind: 'number', cell: (run) => <Duration run={run} /> },
];

interface CellProps {
  readonly run: WorkflowSummary;
}

function StatusCell({ run: { status, outcome, failureTime } }: CellProps): ReactNode {
  return (
    <>
      <StatusBadge status={status} isQuiet={outcome !== null} />
      {failureTime !== null && (
        <span className="failure-mark" title="A step has failed">
          error
        </span>
      )}
    </>
  );
}

function OutcomeCell({ run: { outcome } }: CellProps): ReactNode {
  return outcome === null ? <span className="none">–</span> : <OutcomeBadge outcome={outcome} />;
}

function IdCell({ run: { workflowId, parent } }: CellProps): ReactNode {
  return (
    <>
      <Link href={toPath('runs', workflowId)}>
        <code className="clip" title={workflowId}>
          {workflowId}
        </code>
      </Link>
      {parent !== null && (
        <Link
          className="parent-link"
          href={toPath('runs', parent.workflowId)}
          title={`Started by run ${parent.workflowId}`}
          aria-label={`Parent of run ${workflowId}`}
        >
          ↑ parent
        </Link>
      )}
    </>
  );
}

function Duration({ run: { startTime, endTime } }: CellProps): ReactNode {
  const nowMs = useNow();
  const endMs = endTime === null ? nowMs : Date.parse(endTime);
  const text = durationText(Math.max(0, endMs - Date.parse(startTime)));
  return endTime === null ? <span className="quiet">{text}</span> : text;
}

/** The list of runs: search, filters, live updates and bulk actions. */
export function RunsPage(): ReactNode {
  const [, navigate] = useLocation();
  const search = useSearch();
  const filter = useMemo(() => readFilter(search), [search]);
  const queries = useQueryClient();
  // The job lives here, so that it continues when the filter of the list changes.
  const job = useBulkJob(
    useCallback(() => void queries.invalidateQueries({ queryKey: ['runs'] }), [queries]),
  );
  const setFilter = (next: RunFilter): void => {
    navigate(runsPath(next));
  };
  return (
    <Page title="Runs" actions={<SearchBox />}>
      <PresetBar filter={filter} onChange={setFilter} />
      <FilterBar filter={filter} onChange={setFilter} />
      <RunList key={search} filter={filter} job={job} />
    </Page>
  );
}

function RunList({
  filter,
  job,
}: {
  readonly filter: RunFilter;
  readonly job: BulkJob;
}): ReactNode {
  const paging = usePaging(filterText(filter));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isEverything, setEverything] = useState(false);
  const area = useRef<HTMLDivElement>(null);
  const mayInsert = useCallback(
    () => selected.size === 0 && !isEverything && isLeftAlone(area.current),
    [selected, isEverything],
  );
  const { page, error, isPending, isStale, newCount, refetch } = useRuns({
    filter,
    mayInsert,
    cursor: paging.cursor,
  });
  const rows = page?.items ?? [];
  const parentId = parentIn(filter);
  const startJob = (control: BulkControl, matching: Matching | null): void => {
    const { query, found } = matching ?? {};
    job.start(
      control,
      query === undefined
        ? { ids: [...selected] }
        : { query, total: found?.isMore === false ? found.count : null },
    );
    setSelected(new Set());
    setEverything(false);
  };

  if (page === undefined) {
    if (error !== null) return <ProblemView error={error} onRetry={refetch} />;
    return isPending ? <Loading /> : null;
  }
  return (
    <div ref={area}>
      {error !== null && <ProblemView error={error} onRetry={refetch} />}
      {parentId !== null && <ParentLine parentId={parentId} />}
      <BulkBar
        selectedCount={selected.size}
        {...{ isEverything, job, onEverything: setEverything, onAction: startJob }}
        queryNow={() => untilNow(toQuery(filter, Date.now()))}
        onClear={() => setSelected(new Set())}
      />
      {newCount > 0 && paging.pageNumber === 1 && <NewRuns count={newCount} onShow={refetch} />}
      {rows.length === 0 ? (
        <NoRuns filter={filter} />
      ) : (
        <RunTable rows={rows} filter={filter} selected={selected} onSelect={setSelected} />
      )}
      <Pager paging={paging} nextCursor={page.nextCursor} isStale={isStale}>
        <RunCount count={rows.length} />
      </Pager>
    </div>
  );
}

function RunCount({ count }: { readonly count: number }): ReactNode {
  return (
    <span>
      {count} {count === 1 ? 'run' : 'runs'} on this page
    </span>
  );
}

interface NewRunsProps {
  readonly count: number;
  readonly onShow: () => void;
}

function NewRuns({ count, onShow }: NewRunsProps): ReactNode {
  return (
    <button type="button" className="new-runs" onClick={onShow}>
      {count > NEW_COUNT_MAX ? `More than ${NEW_COUNT_MAX}` : count} new{' '}
      {count === 1 ? 'run' : 'runs'} · show
    </button>
  );
}

/** Excludes runs that start later. */
function untilNow(query: RunQuery): RunQuery {
  return { ...query, startedTo: query.startedTo ?? new Date().toISOString() };
}

function RunTable({
  rows,
  filter,
  selected,
  onSelect,
}: {
  readonly rows: readonly WorkflowSummary[];
  readonly filter: RunFilter;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
}): ReactNode {
  const nowMs = useNow();
  const query = toQuery(filter, nowMs);
  const selection: Selection = {
    keys: selected,
    toggle: (key) => {
      const next = new Set(selected);
      if (!next.delete(key)) next.add(key);
      onSelect(next);
    },
    toggleAll: () => {
      const isAll = rows.every(({ workflowId }) => selected.has(workflowId));
      const next = new Set(selected);
      rows.forEach(({ workflowId }) => (isAll ? next.delete(workflowId) : next.add(workflowId)));
      onSelect(next);
    },
  };
  return (
    <DataTable
      label="Runs"
      columns={COLUMNS}
      rows={rows}
      rowKey={({ workflowId }) => workflowId}
      rowName={({ workflowId }) => `run ${workflowId}`}
      rowClass={(run) => classOf(run, query)}
      selection={selection}
    />
  );
}

function classOf(run: WorkflowSummary, query: RunQuery): string {
  return [
    // A run that no longer matches the filter stays until the list is fetched again, so that nothing jumps.
    ...(matches(run, query) ? [] : ['left-filter']),
    ...(run.outcome === null || run.outcome === 'Succeeded' ? [] : ['ended-badly']),
  ].join(' ');
}

/** A link to the run whose children are listed. */
function ParentLine({ parentId }: { readonly parentId: string }): ReactNode {
  return (
    <p className="parent-line">
      Child runs of{' '}
      <Link href={toPath('runs', parentId)}>
        run{' '}
        <code>
          <bdi>{parentId}</bdi>
        </code>
      </Link>
    </p>
  );
}

function NoRuns({ filter }: { readonly filter: RunFilter }): ReactNode {
  if (filterText(filter) !== '') {
    return (
      <EmptyState title="No run matches the filter.">
        {filter.parent === '' && (
          <p>
            <Link href={runsPath({ ...filter, parent: WITH_CHILDREN })}>Include child runs</Link>
          </p>
        )}
        <p>
          <Link href="/runs">Show all runs</Link>
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="There are no runs yet.">
      <p>Store a definition and start it:</p>
      <pre>{`curl -X POST ${window.location.origin}/api/workflow/<definition> \\
  -H 'content-type: application/json' -d '{}'`}</pre>
      <p>The run appears here immediately.</p>
    </EmptyState>
  );
}

/** Whether rows may move: the top of the list is in view, and neither the pointer nor the focus is on the table. */
function isLeftAlone(area: HTMLElement | null): boolean {
  if (area === null || window.scrollY > 200) return false;
  const table = area.querySelector('table');
  return table === null || (!table.matches(':hover') && !table.contains(document.activeElement));
}
