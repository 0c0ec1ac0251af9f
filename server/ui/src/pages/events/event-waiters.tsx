import type { EventWaiter } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import type { Column } from '../../components/data-table.js';
import { EXECUTION_COLUMN, RUN_COLUMN } from '../../components/execution-columns.js';
import { PagedTable, usePagedQuery } from '../../components/paged-table.js';
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
  const waiters = usePagedQuery({
    key: ['event waiters', eventName, eventKey],
    list: (options) => client.events.waiting(eventName, eventKey, options),
    pageSize: 20,
    refetchInterval: useSlowPollInterval(),
  });
  useRereadOnChange(waiters.refetch);
  return (
    <section className="event-waiters">
      <h2>Waiting runs</h2>
      <PagedTable
        list={waiters}
        label="Waiting runs"
        columns={COLUMNS}
        rowKey={({ workflowId, executionId }) => `${workflowId} ${executionId}`}
        empty={<p className="hint">No run is waiting for this event.</p>}
      />
      <h2>Published events</h2>
    </section>
  );
}
