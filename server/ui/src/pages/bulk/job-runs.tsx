/** The runs of a bulk job, with their current state. */
import type { BulkJob, WorkflowSummary } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { PagedTable, usePagedQuery } from '../../components/paged-table.js';
import { RUN_COLUMNS } from '../runs/run-columns.js';
import { resultText, RESULTS_MAX } from './job-results.js';

const PER_CALL = 100;
/** The results are read again while some runs are open. */
const AGAIN_MS = 10_000;

export function JobRuns({ job }: { readonly job: BulkJob }): ReactNode {
  const { client } = useSession();
  const { id, state, startTime } = job;
  const results = useResults(job);
  const runs = usePagedQuery({
    key: ['runs of bulk job', id, state],
    list: (options) => client.bulk.runs(id, options),
    pageSize: 20,
    refetchInterval: AGAIN_MS,
  });
  return (
    <section aria-labelledby="bulk-runs">
      <h2 id="bulk-runs">Results</h2>
      {results !== undefined && <p role="status">{resultText(results, job.matched, startTime)}</p>}
      <PagedTable
        list={runs}
        label="Runs of the bulk job"
        columns={RUN_COLUMNS}
        rowKey={({ workflowId }) => workflowId}
        empty={<p className="hint">The job has no runs, or they have been removed.</p>}
      />
    </section>
  );
}

/** The current state of the job's first runs; undefined until they have been read. */
function useResults({ id, matched, state }: BulkJob): readonly WorkflowSummary[] | undefined {
  const { client } = useSession();
  const { data } = useQuery({
    queryKey: ['results of bulk job', id, state, matched],
    queryFn: async ({ signal }) => {
      const items: WorkflowSummary[] = [];
      for await (const page of client.bulk.runs(id, { limit: PER_CALL, signal }).pages()) {
        items.push(...page.items);
        if (items.length >= RESULTS_MAX) break;
      }
      return items;
    },
    refetchInterval: ({ state: { data: items } }) =>
      items?.every(({ outcome }) => outcome !== null) === true ? false : AGAIN_MS,
  });
  return data;
}
