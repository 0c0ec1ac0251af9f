import type { BulkJob } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { RunId } from '../../components/run-id.js';
import { exactTime } from '../../components/zone-choice.js';
import { TimeAgo } from '../../components/time-ago.js';
import { BULK_ACTIONS } from './bulk-actions.js';
import { JobCreator } from './job-creator.js';
import { JobProgress } from './job-progress.js';
import { JobRuns } from './job-runs.js';
import { useBulkJob } from './use-bulk-jobs.js';

type Failure = BulkJob['failures'][number];

const COLUMNS: readonly Column<Failure>[] = [
  {
    key: 'run',
    header: 'Run',
    kind: 'id',
    cell: ({ workflowId }) => (
      <Link href={toPath('runs', workflowId)}>
        <RunId id={workflowId} />
      </Link>
    ),
  },
  {
    key: 'problem',
    header: 'Why',
    kind: 'wide',
    cell: ({ problem: { detail, errors = [] } }) => (
      <>
        <bdi>{detail}</bdi>
        {errors.slice(0, 5).map(({ message }, at) => (
          <div key={at} className="quiet">
            <bdi>{message}</bdi>
          </div>
        ))}
      </>
    ),
  },
];

/** A purge leaves no runs, and a restart starts others. */
const SHOWS_RUNS: ReadonlySet<BulkJob['action']> = new Set([
  'suspend',
  'resume',
  'retry',
  'modify',
  'terminate',
]);

/** One bulk job: its progress, and the runs for which the action failed. */
export function BulkJobPage({ id }: { readonly id: string }): ReactNode {
  const job = useBulkJob(id);
  if (job.data === undefined) {
    return (
      <Page title="Bulk job">
        {job.error === null ? <Loading /> : <ProblemView error={job.error} />}
      </Page>
    );
  }
  const { action, reason, startTime, endTime, failures, failed } = job.data;
  return (
    <Page title={`${BULK_ACTIONS[action].label} many runs`}>
      {job.error !== null && <ProblemView error={job.error} />}
      <JobProgress job={job.data} />
      <dl className="facts">
        <div>
          <dt>Reason</dt>
          <dd>
            <bdi>{reason}</bdi>
          </dd>
        </div>
        <div>
          <dt>By</dt>
          <dd>
            <JobCreator job={job.data} />
          </dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>{exactTime(startTime)}</dd>
        </div>
        {endTime !== null && (
          <div>
            <dt>Ended</dt>
            <dd>
              <TimeAgo time={endTime} />
            </dd>
          </div>
        )}
      </dl>
      {SHOWS_RUNS.has(action) && <JobRuns job={job.data} />}
      {failures.length > 0 && (
        <section aria-labelledby="bulk-failures">
          <h2 id="bulk-failures">
            Failures
            {failed > failures.length && ` (the first ${failures.length} of ${failed})`}
          </h2>
          <DataTable
            label="Failures of the bulk job"
            columns={COLUMNS}
            rows={failures}
            rowKey={({ workflowId }) => workflowId}
          />
        </section>
      )}
    </Page>
  );
}
