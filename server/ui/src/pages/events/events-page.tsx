import type { EventSummary } from '@stepwright/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAddressQuery } from '../../app/address-query.js';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import type { Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { JsonView } from '../../components/json-view.js';
import { Page } from '../../components/page.js';
import { PagedTable, usePagedQuery } from '../../components/paged-table.js';
import { TimeAgo } from '../../components/time-ago.js';
import { EventFilterForm } from './event-filter-form.js';
import { EventWaiters } from './event-waiters.js';
import { LongData } from './long-data.js';
import { PublishForm } from './publish-form.js';
import './events.css';

/** Recent events and the runs that took them; for a name and key, also the runs that are waiting. */
export function EventsPage(): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  const [search, setSearch] = useAddressQuery();
  const [isPublishing, setPublishing] = useState(false);
  const name = search.get('name') ?? '';
  const key = search.get('key') ?? '';
  const isFiltered = name !== '' && key !== '';
  const filter = isFiltered ? { eventName: name, eventKey: key } : {};
  const events = usePagedQuery({
    key: ['events', JSON.stringify(filter)],
    list: (options) => client.events.list({ ...filter, ...options }),
    refetchInterval: useSlowPollInterval(),
  });
  useRereadOnChange(events.refetch);
  return (
    <Page
      title="Events"
      actions={
        <Button variant="primary" needs="controller" onPress={() => setPublishing(true)}>
          Publish an event
        </Button>
      }
    >
      <EventFilterForm
        key={`${name}/${key}`}
        {...{ name, eventKey: key }}
        onFilter={(next) => setSearch(next)}
      />
      {isFiltered && <EventWaiters eventName={name} eventKey={key} />}
      <PagedTable
        list={events}
        label="Events"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <EmptyState title={isFiltered ? NO_SUCH_EVENT : 'There are no events yet.'}>
            <p>WaitFor steps wait for events. Publish an event here or through the API.</p>
          </EmptyState>
        }
        note={<p className="hint">{LATER}</p>}
      />
      {isPublishing && (
        <PublishForm
          {...{ initialName: name, initialKey: key }}
          onClose={() => setPublishing(false)}
          onPublished={() => void queries.invalidateQueries({ queryKey: ['events'] })}
        />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<EventSummary>[] = [
  {
    key: 'name',
    header: 'Event',
    kind: 'wide',
    cell: ({ name, key }) => (
      <Link href={`/events?${new URLSearchParams({ name, key }).toString()}`}>
        <bdi>{name}</bdi> / <bdi>{key}</bdi>
      </Link>
    ),
  },
  {
    key: 'published',
    header: 'Published',
    kind: 'time',
    cell: ({ publishTime }) => <TimeAgo time={publishTime} />,
  },
  {
    key: 'data',
    header: 'Data',
    kind: 'wide',
    cell: ({ id, data, dataOmitted, name, key }) =>
      dataOmitted ? (
        <LongData eventId={id} label={`Data of ${name}/${key}`} />
      ) : (
        <JsonView value={data} openLevels={0} label={`Data of ${name}/${key}`} />
      ),
  },
  {
    key: 'taken',
    header: 'Delivered at publication to',
    kind: 'wide',
    cell: (event) => <Takers event={event} />,
  },
];

const NO_SUCH_EVENT = 'No event with this name and key has been published.';
const LATER =
  'An event is delivered to the runs that are waiting for it when it is published. A run that waits for it later can still take it, but is not listed here.';

function Takers({ event }: { readonly event: EventSummary }): ReactNode {
  const { deliveredTo, takenBy } = event;
  if (deliveredTo === null) return <span className="hint">being delivered</span>;
  if (takenBy.length === 0) {
    return (
      <span className="hint" title={LATER}>
        no run was waiting
      </span>
    );
  }
  const more = deliveredTo - takenBy.length;
  return (
    <span className="event-takers">
      {takenBy.map((workflowId) => (
        <Link key={workflowId} href={toPath('runs', workflowId)}>
          <code>{workflowId}</code>
        </Link>
      ))}
      {more > 0 && <span className="hint">and {more} more</span>}
    </span>
  );
}
