import type { BulkJobSummary } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { Pager, usePaging } from '../../components/pager.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';
import { BULK_ACTIONS } from './bulk-actions.js';
import { JobCreator } from './job-creator.js';
import { useBulkJobs } from './use-bulk-jobs.js';

const TONES = { Running: 'running', Done: 'good', Stopped: 'idle' } as const;

const COLUMNS: readonly Column<BulkJobSummary>[] = [
  {
    key: 'state',
    header: 'State',
    cell: ({ state }) => <span className={`badge ${TONES[state]}`}>{state}</span>,
  },
  {
    key: 'action',
    header: 'Action',
    cell: ({ action, id }) => <Link href={toPath('bulk', id)}>{BULK_ACTIONS[action].label}</Link>,
  },
  {
    key: 'reason',
    header: 'Reason',
    kind: 'wide',
    cell: ({ reason }) => <bdi>{reason}</bdi>,
  },
  { key: 'actor', header: 'By', cell: (job) => <JobCreator job={job} /> },
  {
    key: 'done',
    header: 'Done',
    kind: 'number',
    cell: ({ done, matched, exact }) =>
      `${done.toLocaleString('en')} of ${matched.toLocaleString('en')}${exact ? '' : '+'}`,
  },
  {
    key: 'skipped',
    header: 'Skipped',
    kind: 'number',
    cell: ({ skipped }) => skipped.toLocaleString('en'),
  },
  {
    key: 'failed',
    header: 'Failed',
    kind: 'number',
    cell: ({ failed }) => failed.toLocaleString('en'),
  },
  {
    key: 'started',
    header: 'Started',
    kind: 'time',
    cell: ({ startTime }) => <TimeAgo time={startTime} />,
  },
];

/** The bulk jobs, newest first. */
export function BulkJobsPage(): ReactNode {
  const paging = usePaging('bulk jobs');
  const jobs = useBulkJobs(paging.cursor);
  return (
    <Page title="Bulk jobs">
      {jobs.error !== null && (
        <ProblemView error={jobs.error} onRetry={() => void jobs.refetch()} />
      )}
      {jobs.data === undefined ? (
        jobs.error === null && <Loading />
      ) : (
        <>
          {jobs.data.items.length === 0 ? (
            <EmptyState title="There have been no bulk jobs.">
              <p>
                A bulk job applies one action to many runs: select runs in{' '}
                <Link href="/runs">the list of runs</Link>, or start from{' '}
                <Link href="/failures">a group of failures</Link>.
              </p>
            </EmptyState>
          ) : (
            <DataTable
              label="Bulk jobs"
              columns={COLUMNS}
              rows={jobs.data.items}
              rowKey={({ id }) => id}
            />
          )}
          <Pager
            paging={paging}
            nextCursor={jobs.data.nextCursor}
            isStale={jobs.isPlaceholderData}
          />
        </>
      )}
    </Page>
  );
}
