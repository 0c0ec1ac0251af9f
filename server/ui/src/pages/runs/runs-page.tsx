import type { Page as ResultPage, WorkflowSummary } from '@stepwright/sdk';
import { useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAddressQuery } from '../../app/address-query.js';
import { toPath } from '../../app/path.js';
import { DataTable, type Selection } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { Pager, usePaging } from '../../components/pager.js';
import { ProblemView } from '../../components/problem-view.js';
import { useNow } from '../../components/time-ago.js';
import { useLatestDefinition } from '../definitions/use-definition.js';
import { BulkBar } from './bulk-bar.js';
import { ColumnPicker, storeColumns, useColumnChoice } from './column-choice.js';
import { ExportMenu } from './export-menu.js';
import { FilterBar, PresetBar } from './filter-bar.js';
import {
  filterText,
  selectionKey,
  fulfillsAll,
  matches,
  parentIn,
  readFilter,
  runsPath,
  toQuery,
  WITH_CHILDREN,
  type RunFilter,
  type RunQuery,
} from './run-filter.js';
import { fieldColumn, RUN_COLUMNS } from './run-columns.js';
import { Malformed, SearchBox } from './search-box.js';
import { SavedViews } from './saved-views.js';
import { misplacedIn } from './search-text.js';
import type { SavedView } from './stored-views.js';
import { knownFields } from './suggestions.js';
import { runsText, useRunCount, type RunCount } from './use-run-count.js';
import { NEW_COUNT_MAX, useRuns } from './use-runs.js';

/** The list of runs: search, filters, live updates and bulk actions. */
export function RunsPage(): ReactNode {
  const [, navigate] = useLocation();
  const [address] = useAddressQuery();
  const search = address.toString();
  const filter = useMemo(() => readFilter(search), [search]);
  const malformed = misplacedIn(filter.where);
  // It is kept here, so that its progress stays when the filter of the list changes.
  const [jobId, setJobId] = useState<string | null>(null);
  const setFilter = (next: RunFilter): void => {
    navigate(runsPath(next));
  };
  // A view may differ from the shown list only in its columns.
  const [opened, setOpened] = useState(0);
  const openView = (view: SavedView): void => {
    const next = readFilter(view.search);
    storeColumns(next.definitionId, view.columns);
    setOpened((before) => before + 1);
    setFilter(next);
  };
  return (
    <Page title="Runs">
      <SearchBox filter={filter} />
      <PresetBar filter={filter} onChange={setFilter} />
      <SavedViews filter={filter} onOpen={openView} />
      <FilterBar filter={filter} onChange={setFilter} />
      {malformed === null ? (
        <RunList key={`${opened} ${search}`} {...{ filter, jobId }} onJob={setJobId} />
      ) : (
        <EmptyState title="The address contains a malformed condition.">
          <p>
            <Malformed text={filter.where} part={malformed} />
          </p>
        </EmptyState>
      )}
    </Page>
  );
}

function RunList({
  filter,
  jobId,
  onJob,
}: {
  readonly filter: RunFilter;
  readonly jobId: string | null;
  readonly onJob: (jobId: string | null) => void;
}): ReactNode {
  const paging = usePaging(selectionKey(filter));
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isEverything, setEverything] = useState(false);
  const area = useRef<HTMLDivElement>(null);
  const mayInsert = useCallback(
    () => selected.size === 0 && !isEverything && isLeftAlone(area.current),
    [selected, isEverything],
  );
  const choice = useColumnChoice(filter.definitionId);
  const { page, error, isPending, isStale, newCount, refetch } = useRuns({
    filter,
    mayInsert,
    needsFields:
      [filter.where, filter.failure, filter.queued].some((text) => text !== '') ||
      choice.columns.length > 0,
    cursor: paging.cursor,
  });
  const total = useRunCount(filter);
  const rows = page?.items ?? [];
  const parentId = parentIn(filter);
  if (page === undefined) {
    if (error !== null) return <ProblemView error={error} onRetry={refetch} />;
    return isPending ? <Loading /> : null;
  }
  return (
    <div ref={area}>
      {error !== null && <ProblemView error={error} onRetry={refetch} />}
      {parentId !== null && <ParentLine parentId={parentId} />}
      <BulkBar
        {...{ selected, isEverything, jobId, onJob, onEverything: setEverything }}
        queryNow={() => untilNow(toQuery(filter, Date.now()))}
        onClear={() => setSelected(new Set())}
      />
      {newCount > 0 && paging.pageNumber === 1 && <NewRuns count={newCount} onShow={refetch} />}
      <RunRows {...{ page, filter, choice, selected, onSelect: setSelected }} />
      <Pager paging={paging} nextCursor={page.nextCursor} isStale={isStale}>
        <ShownCount shown={rows.length} total={total} />
      </Pager>
    </div>
  );
}

function RunRows({
  page,
  filter,
  choice,
  selected,
  onSelect,
}: {
  readonly page: ResultPage<WorkflowSummary>;
  readonly filter: RunFilter;
  readonly choice: ReturnType<typeof useColumnChoice>;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
}): ReactNode {
  const { items: rows, nextCursor } = page;
  if (rows.length === 0) return <NoRuns filter={filter} hasMore={nextCursor !== null} />;
  return (
    <>
      <div className="list-tools">
        <FieldColumns {...{ filter, rows, choice }} />
        <ExportMenu
          queryNow={() => untilNow(toQuery(filter, Date.now()))}
          fields={choice.columns}
        />
      </div>
      <RunTable {...{ rows, filter, selected, onSelect }} columns={choice.columns} />
    </>
  );
}

function ShownCount({
  shown,
  total,
}: {
  readonly shown: number;
  readonly total: RunCount | undefined;
}): ReactNode {
  if (total === undefined) return <span>Showing {shown}</span>;
  return (
    <span>
      Showing {shown} of {runsText(total)}
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

/** Chooses columns among the fields of the definition and of the shown runs. */
function FieldColumns({
  filter,
  rows,
  choice,
}: {
  readonly filter: RunFilter;
  readonly rows: readonly WorkflowSummary[];
  readonly choice: ReturnType<typeof useColumnChoice>;
}): ReactNode {
  // A filter may name a definition that does not exist.
  const exists = rows.some(({ definitionId }) => definitionId === filter.definitionId);
  const definition = useLatestDefinition(filter.definitionId, exists);
  const names = [...knownFields(definition.data ?? {}, rows).keys()];
  return <ColumnPicker names={names} {...choice} />;
}

/** Excludes runs that start later. */
function untilNow(query: RunQuery): RunQuery {
  return { ...query, startedTo: query.startedTo ?? new Date().toISOString() };
}

function RunTable({
  rows,
  filter,
  columns,
  selected,
  onSelect,
}: {
  readonly rows: readonly WorkflowSummary[];
  readonly filter: RunFilter;
  /** The names of index fields and tags. */
  readonly columns: readonly string[];
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
      columns={[...RUN_COLUMNS, ...columns.map(fieldColumn)]}
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
    ...(matches(run, query) && fulfillsAll(run, query) ? [] : ['left-filter']),
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

function NoRuns({
  filter,
  hasMore,
}: {
  readonly filter: RunFilter;
  /** The server has not searched everything yet. */
  readonly hasMore: boolean;
}): ReactNode {
  if (hasMore) {
    return (
      <EmptyState title="No run matches so far.">
        <p>There are more runs to search: go to the next page.</p>
      </EmptyState>
    );
  }
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
