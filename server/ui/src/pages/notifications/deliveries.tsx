import type { Delivery } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAddressQuery } from '../../app/address-query.js';
import { usePollInterval, useRereadOnChange } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import type { Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { PagedTable, usePagedQuery } from '../../components/paged-table.js';
import { RunId } from '../../components/run-id.js';
import { TimeAgo } from '../../components/time-ago.js';
import { useToasts } from '../../components/toasts.js';
import { ViewChoice } from '../../components/view-choice.js';
import { AnswerText } from './answer-text.js';

/** Attempts aren't run changes, so while the page is open, they are polled as often as the bulk jobs. */
const REFRESH_MS = 5000;

const STATES = {
  all: 'All',
  waiting: 'Waiting',
  delivered: 'Delivered',
  failed: 'Failed',
} as const;
type StateChoice = keyof typeof STATES;

const TONES = { waiting: 'waiting', delivered: 'good', failed: 'bad strong' } as const;

/** The messages of a notification, newest first. */
export function Deliveries({ name }: { readonly name: string }): ReactNode {
  const { client } = useSession();
  const [search, setSearch] = useAddressQuery();
  const state = stateIn(search);
  const poll = usePollInterval();
  const deliveries = usePagedQuery({
    key: ['notification', name, 'deliveries', state],
    list: (options) =>
      client.notifications.deliveries(name, { ...options, ...(state !== 'all' && { state }) }),
    refetchInterval: poll === false ? REFRESH_MS : poll,
  });
  useRereadOnChange(deliveries.refetch);
  return (
    <section aria-labelledby="deliveries">
      <div className="deliveries-bar">
        <h2 id="deliveries">Deliveries</h2>
        <ViewChoice
          label="Deliveries shown"
          views={STATES}
          view={state}
          onChoose={(next) => setSearch(next === 'all' ? {} : { state: next })}
        />
      </div>
      <PagedTable
        list={deliveries}
        label="Deliveries"
        columns={columnsOf(name, deliveries.refetch)}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            title={state === 'all' ? 'There are no deliveries yet.' : `No delivery is ${state}.`}
          >
            <p>Deliveries are removed a week after they end.</p>
          </EmptyState>
        }
      />
    </section>
  );
}

function stateIn(address: URLSearchParams): StateChoice {
  const state = address.get('state');
  return state === 'waiting' || state === 'delivered' || state === 'failed' ? state : 'all';
}

function columnsOf(name: string, onRedelivered: () => void): readonly Column<Delivery>[] {
  return [
    {
      key: 'state',
      header: 'State',
      cell: ({ state }) => <span className={`badge ${TONES[state]}`}>{state}</span>,
    },
    {
      key: 'type',
      header: 'Message',
      cell: ({ id, type }) => (
        <span className="delivery-type" title={id}>
          {type}
        </span>
      ),
    },
    { key: 'run', header: 'Run', kind: 'id', cell: ({ workflowId }) => <Run id={workflowId} /> },
    {
      key: 'created',
      header: 'Created',
      kind: 'time',
      cell: ({ createdTime }) => <TimeAgo time={createdTime} />,
    },
    { key: 'attempts', header: 'Attempts', kind: 'number', cell: ({ attempts }) => attempts },
    {
      key: 'next',
      header: 'Next attempt',
      kind: 'time',
      cell: ({ nextAttemptTime }) => <TimeAgo time={nextAttemptTime} />,
    },
    {
      key: 'answer',
      header: 'Last answer',
      kind: 'wide',
      cell: ({ lastAnswer }) =>
        lastAnswer === null ? <span className="none">–</span> : <AnswerText answer={lastAnswer} />,
    },
    {
      key: 'redeliver',
      header: 'Actions',
      cell: ({ id }) => <Redeliver {...{ name, id, onRedelivered }} />,
    },
  ];
}

function Run({ id }: { readonly id: string | null }): ReactNode {
  if (id === null) return <span className="none">–</span>;
  return (
    <Link href={toPath('runs', id)}>
      <RunId id={id} />
    </Link>
  );
}

function Redeliver({
  name,
  id,
  onRedelivered,
}: {
  readonly name: string;
  readonly id: string;
  readonly onRedelivered: () => void;
}): ReactNode {
  const { client, noticeFailure } = useSession();
  const { say, notifyError } = useToasts();
  const redeliver = async (): Promise<void> => {
    try {
      await client.notifications.redeliver(name, id);
      say('The delivery is being retried.');
      onRedelivered();
    } catch (error) {
      noticeFailure(error);
      notifyError('Redeliver failed', error);
    }
  };
  return (
    <Button isSmall needs="author" onPress={() => void redeliver()}>
      Redeliver
    </Button>
  );
}
