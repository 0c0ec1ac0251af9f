import type { EventWaiter } from '@stepwright/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EXECUTION_COLUMN, RUN_COLUMN } from '../../components/execution-columns.js';
import { Pager, usePaging } from '../../components/pager.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';

const COLUMNS: readonly Column<EventWaiter>[] = [
  RUN_COLUMN,
  EXECUTION_COLUMN,
  {
    key: 'since',
    header: 'Effective date',
    kind: 'time',
    cell: ({ since }) => <TimeAgo time={since} />,
  },
];

/** The steps that are waiting for one event. */
export function EventWaiters({
  eventName,
  eventKey,
}: {
  readonly eventName: string;
  readonly eventKey: string;
}): ReactNode {
  const { client } = useSession();
  const paging = usePaging(JSON.stringify([eventName, eventKey]));
  const waiters = useQuery({
    queryKey: ['event waiters', eventName, eventKey, paging.cursor ?? null],
    queryFn: ({ signal }) =>
      client.events.waiting(eventName, eventKey, { limit: 20, signal }).page(paging.cursor),
    placeholderData: keepPreviousData,
    refetchInterval: useSlowPollInterval(),
  });
  useRereadOnChange(() => void waiters.refetch());
  const { data, error } = waiters;
  if (error !== null) return <ProblemView error={error} />;
  if (data === undefined) return null;
  return (
    <section className="event-waiters">
      <h2>Waiting runs</h2>
      {data.items.length === 0 ? (
        <p className="hint">No run is waiting for this event.</p>
      ) : (
        <>
          <DataTable
            label="Waiting runs"
            columns={COLUMNS}
            rows={data.items}
            rowKey={({ workflowId, executionId }) => `${workflowId} ${executionId}`}
          />
          <Pager paging={paging} nextCursor={data.nextCursor} isStale={waiters.isPlaceholderData} />
        </>
      )}
      <h2>Published events</h2>
    </section>
  );
}
