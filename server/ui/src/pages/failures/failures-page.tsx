import type { FailureGroup } from '@stepwright/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useAddressQuery } from '../../app/address-query.js';
import { usePollInterval, useRereadOnChange } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';
import type { BulkAction } from '../bulk/bulk-actions.js';
import { BulkDialog } from '../bulk/bulk-dialog.js';
import { NO_FILTER, runsPath, toQuery, WITH_CHILDREN } from '../runs/run-filter.js';
import { Trend } from './trend.js';
import './failures.css';

const GROUPS_MAX = 100;
const ORDERS = { count: 'most runs first', lastTime: 'newest first' } as const;
type Order = keyof typeof ORDERS;

/** Failed runs, grouped by definition, step and message without its numbers. */
export function FailuresPage(): ReactNode {
  const [address, setAddress] = useAddressQuery();
  const order: Order = address.get('order') === 'lastTime' ? 'lastTime' : 'count';
  const definitionId = address.get('definitionId') ?? '';
  const groups = useGroups(order, definitionId);
  const [acting, setActing] = useState<FailureGroup | null>(null);
  const choose = (change: Readonly<Record<string, string>>): void => {
    setAddress(withoutEmpty({ ...Object.fromEntries(address), ...change }));
  };
  return (
    <Page title="Failures">
      <div className="failure-bar">
        <label className="inline-field">
          <span>Order</span>
          <select value={order} onChange={({ target }) => choose({ order: target.value })}>
            {Object.entries(ORDERS).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {definitionId !== '' && (
          <span>
            Only <bdi>{definitionId}</bdi>{' '}
            <Button isSmall variant="quiet" onPress={() => choose({ definitionId: '' })}>
              Show all definitions
            </Button>
          </span>
        )}
      </div>
      {groups.error !== null && (
        <ProblemView error={groups.error} onRetry={() => void groups.refetch()} />
      )}
      {groups.data === undefined ? (
        groups.error === null && <Loading />
      ) : groups.data.items.length === 0 ? (
        <EmptyState title="No run has a failure that needs attention.">
          <p>Runs that fail, retry or are suspended by an error appear here, grouped by cause.</p>
        </EmptyState>
      ) : (
        <>
          <DataTable
            label="Groups of failures"
            columns={[...COLUMNS, actColumn(setActing)]}
            rows={groups.data.items}
            rowKey={({ key }) => key}
          />
          <p className="hint">
            {groups.data.count.toLocaleString('en')} {groups.data.count === 1 ? 'run' : 'runs'} in{' '}
            {groups.data.groups.toLocaleString('en')}{' '}
            {groups.data.groups === 1 ? 'group' : 'groups'}
            {!groups.data.exact && ', at least: only the newest failures were counted'}
          </p>
        </>
      )}
      {acting !== null && <ActOnGroup group={acting} onClose={() => setActing(null)} />}
    </Page>
  );
}

function withoutEmpty(members: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''));
}

/** One action on all current runs of the group. */
function ActOnGroup({
  group,
  onClose,
}: {
  readonly group: FailureGroup;
  readonly onClose: () => void;
}): ReactNode {
  const [, navigate] = useLocation();
  const [selection] = useState(() => ({ query: queryOf(group) }));
  return (
    <BulkDialog
      action={actionFor(group)}
      failedStepId={group.stepId}
      selection={selection}
      onStarted={(id) => navigate(toPath('bulk', id))}
      onClose={onClose}
    />
  );
}

/** The action that suits most runs of the group. Ended runs can only be repaired, restarted or purged. */
function actionFor({ suspended, retrying, failed }: FailureGroup): BulkAction {
  if (failed > suspended && failed > retrying) return 'modify';
  return suspended >= retrying ? 'resume' : 'retry';
}

function useGroups(order: Order, definitionId: string) {
  const { client } = useSession();
  const groups = useQuery({
    queryKey: ['failures', order, definitionId],
    queryFn: ({ signal }) =>
      client.workflows.failures({
        order,
        limit: GROUPS_MAX,
        ...(definitionId !== '' && { definitionId }),
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: usePollInterval(),
  });
  useRereadOnChange(() => void groups.refetch());
  return groups;
}

/** All current runs of the group. */
function queryOf({ key, definitionId }: FailureGroup) {
  const filter = { ...NO_FILTER, failure: key, definitionId, parent: WITH_CHILDREN };
  return { ...toQuery(filter, Date.now()), startedTo: new Date().toISOString() };
}

const COLUMNS: readonly Column<FailureGroup>[] = [
  {
    key: 'count',
    header: 'Runs',
    kind: 'number',
    cell: ({ key, count }) => (
      <Link
        className="failure-count"
        href={runsPath({ failure: key, parent: WITH_CHILDREN })}
        aria-label={`Show the ${count} runs of this group`}
      >
        {count.toLocaleString('en')}
      </Link>
    ),
  },
  {
    key: 'cause',
    header: 'Cause',
    kind: 'wide',
    cell: (group) => <Cause group={group} />,
  },
  {
    key: 'state',
    header: 'Now',
    cell: ({ suspended, retrying, failed }) => (
      <span className="failure-states">
        {suspended > 0 && <span className="badge warning">{suspended} suspended</span>}
        {retrying > 0 && <span className="badge running">{retrying} retrying</span>}
        {failed > 0 && <span className="badge bad">{failed} ended</span>}
      </span>
    ),
  },
  {
    key: 'trend',
    header: 'Last 24 hours',
    cell: ({ trend }) => <Trend counts={trend} />,
  },
  {
    key: 'first',
    header: 'First',
    kind: 'time',
    cell: ({ firstTime }) => <TimeAgo time={firstTime} />,
  },
  {
    key: 'last',
    header: 'Last',
    kind: 'time',
    cell: ({ lastTime }) => <TimeAgo time={lastTime} />,
  },
];

function actColumn(onAct: (group: FailureGroup) => void): Column<FailureGroup> {
  return {
    key: 'act',
    header: 'Repair',
    cell: (group) => (
      <Button isSmall needs="controller" onPress={() => onAct(group)}>
        Act on all …
      </Button>
    ),
  };
}

function Cause({
  group: { definitionId, stepId, type, message, example },
}: {
  readonly group: FailureGroup;
}): ReactNode {
  return (
    <>
      <span className="failure-place">
        <bdi>{definitionId}</bdi>
        {stepId !== '' && (
          <>
            {' · '}
            <bdi>{stepId}</bdi>
          </>
        )}
      </span>
      <span className="failure-message">
        <code className="error-type">{type}</code> <bdi>{message}</bdi>
      </span>
      <Link className="failure-example" href={toPath('runs', example)}>
        newest run
      </Link>
    </>
  );
}
