import type { AuditEntry } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useAddressQuery } from '../../app/address-query.js';
import { useSlowPollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { currentZone, exactTime, useZone } from '../../components/zone-choice.js';
import type { Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Page } from '../../components/page.js';
import { PagedTable, usePagedQuery } from '../../components/paged-table.js';
import { AuditFilterBar } from './audit-filter-bar.js';
import { readChangeFilter, setMembers, toAuditQuery, type ChangeFilter } from './audit-filter.js';
import { actionText, TARGET_KINDS, targetPath } from './audit-words.js';
import './audit.css';

/** All changes made by clients, newest first. */
export function AuditPage(): ReactNode {
  const { client } = useSession();
  useZone();
  const [search, setSearch] = useAddressQuery();
  const filter = readChangeFilter(search);
  const isFiltered = Object.keys(setMembers(filter)).length > 0;
  const list = usePagedQuery({
    key: ['audit', currentZone(), JSON.stringify(filter)],
    list: (options) => client.audit.list({ ...toAuditQuery(filter, Date.now()), ...options }),
    refetchInterval: useSlowPollInterval(),
  });
  return (
    <Page title="Audit log">
      <AuditFilterBar filter={filter} onChange={(next) => setSearch(setMembers(next))} />
      <PagedTable
        list={list}
        label="Changes"
        columns={columnsFor(filter)}
        rowKey={({ id }) => id}
        empty={
          <EmptyState
            title={isFiltered ? 'No change here matches the filter.' : 'There are no changes yet.'}
          >
            <p>
              Changes to definitions, custom steps, triggers, webhooks, notifications and API keys
              appear here, and so do all actions on runs.
            </p>
          </EmptyState>
        }
      />
    </Page>
  );
}

function columnsFor(filter: ChangeFilter): readonly Column<AuditEntry>[] {
  const only = (change: Partial<ChangeFilter>, text: string): ReactNode => (
    <Link
      className="audit-value"
      title="Show only these"
      href={`/audit?${new URLSearchParams(setMembers({ ...filter, ...change })).toString()}`}
    >
      <bdi>{text}</bdi>
    </Link>
  );
  return [
    { key: 'time', header: 'Time', kind: 'time', cell: ({ time }) => exactTime(time) },
    { key: 'who', header: 'Who', cell: ({ actor }) => only({ actor }, actor) },
    {
      key: 'action',
      header: 'Action',
      cell: ({ action }) => only({ action }, actionText(action)),
    },
    { key: 'target', header: 'Target', cell: ({ target }) => <TargetLink target={target} /> },
    {
      key: 'detail',
      header: 'Detail',
      kind: 'wide',
      cell: ({ detail }) =>
        detail === null ? <span className="none">–</span> : <bdi>{detail}</bdi>,
    },
    {
      key: 'address',
      header: 'Address',
      kind: 'id',
      cell: ({ address }) => only({ address }, address),
    },
  ];
}

function TargetLink({ target }: { readonly target: AuditEntry['target'] }): ReactNode {
  const path = targetPath(target);
  const id = <bdi>{target.id}</bdi>;
  return (
    <>
      <span className="quiet">{TARGET_KINDS[target.kind] ?? target.kind}</span>{' '}
      {path === null ? id : <Link href={path}>{id}</Link>}
    </>
  );
}
