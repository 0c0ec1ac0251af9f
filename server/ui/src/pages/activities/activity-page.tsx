import type { ActivityItem } from '@stepwright/sdk';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import type { Column } from '../../components/data-table.js';
import {
  DEFINITION_COLUMN,
  EXECUTION_COLUMN,
  REFERENCE_COLUMN,
  RUN_COLUMN,
} from '../../components/execution-columns.js';
import { EmptyState } from '../../components/empty-state.js';
import { Page } from '../../components/page.js';
import { PagedTable, usePagedQuery } from '../../components/paged-table.js';
import { TimeAgo } from '../../components/time-ago.js';
import { AnswerForm, type Answer } from './answer-form.js';
import { SlotWait } from './slot-wait.js';
import './activities.css';

const STATES = {
  waiting: { word: 'waiting', tone: 'waiting' },
  held: { word: 'held', tone: 'running' },
  limited: { word: 'waits for a slot', tone: 'waiting' },
  deferred: { word: 'deferred: its run is suspended', tone: 'warning' },
} as const;

const COLUMNS: readonly Column<ActivityItem>[] = [
  {
    key: 'state',
    header: 'State',
    cell: (item) => (
      <>
        <span className={`badge ${STATES[item.state].tone}`}>{STATES[item.state].word}</span>
        {item.state === 'limited' && <SlotWait item={item} />}
      </>
    ),
  },
  RUN_COLUMN,
  DEFINITION_COLUMN,
  REFERENCE_COLUMN,
  EXECUTION_COLUMN,
  { key: 'attempt', header: 'Delivery', kind: 'number', cell: ({ attempt }) => attempt },
  { key: 'priority', header: 'Priority', kind: 'number', cell: ({ priority }) => priority },
  {
    key: 'fairness',
    header: 'Fairness',
    cell: ({ fairnessKey }) => (fairnessKey === null ? '–' : <bdi>{fairnessKey}</bdi>),
  },
  {
    key: 'offered',
    header: 'Offered',
    kind: 'time',
    cell: ({ offeredTime }) => <TimeAgo time={offeredTime} />,
  },
  {
    key: 'worker',
    header: 'Held by',
    kind: 'wide',
    cell: ({ workerId, state }) => (state === 'held' ? <Holder workerId={workerId} /> : '–'),
  },
  {
    key: 'lease',
    header: 'Lease ends',
    kind: 'time',
    cell: ({ leaseUntil, state }) =>
      state === 'held' && leaseUntil === null ? <NoLease /> : <TimeAgo time={leaseUntil} />,
  },
];

/** If the worker has crashed, no other worker gets the item, so the operator has to answer in its place. */
function NoLease(): ReactNode {
  return (
    <span
      className="badge warning"
      title="If the worker has crashed, no other worker gets this item: complete or fail it here. Polling with a lease avoids this."
    >
      no lease: stays with this worker
    </span>
  );
}

interface Asked {
  readonly item: ActivityItem;
  readonly answer: Answer;
}

function answerColumn(onAsk: (asked: Asked) => void): Column<ActivityItem> {
  return {
    key: 'answer',
    header: 'Manual action',
    cell: (item) => (
      <span className="work-buttons">
        <Button isSmall needs="controller" onPress={() => onAsk({ item, answer: 'complete' })}>
          Complete
        </Button>
        <Button isSmall needs="controller" onPress={() => onAsk({ item, answer: 'fail' })}>
          Fail
        </Button>
      </span>
    ),
  };
}

function Holder({ workerId }: { readonly workerId: string | null }): ReactNode {
  if (workerId === null || workerId === '') return 'an unnamed worker';
  return (
    <Link href={toPath('workers', workerId)}>
      <bdi>{workerId}</bdi>
    </Link>
  );
}

/** The items of one queue, oldest first. The operator can complete or fail each in place of its worker. */
export function ActivityPage({ name }: { readonly name: string }): ReactNode {
  const { client } = useSession();
  const items = usePagedQuery({
    key: ['activity items', name],
    list: (options) => client.activities.items(name, options),
    refetchInterval: useSlowPollInterval(),
  });
  useRereadOnChange(items.refetch);
  const [asked, setAsked] = useState<Asked>();
  const columns = [...COLUMNS, answerColumn(setAsked)];
  return (
    <Page title={name} heading={<bdi>{name}</bdi>}>
      <PagedTable
        list={items}
        label="Work items"
        columns={columns}
        rowKey={({ workflowId, executionId }) => `${workflowId} ${executionId}`}
        empty={
          <EmptyState title="This queue has no work items.">
            <p>
              <Link href="/activities">All queues</Link>
            </p>
          </EmptyState>
        }
      />
      {asked !== undefined && (
        <AnswerForm {...asked} onClose={() => setAsked(undefined)} onDone={items.refetch} />
      )}
    </Page>
  );
}
