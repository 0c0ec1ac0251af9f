import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import { Button } from '../../components/button.js';
import { BULK_ACTIONS, type BulkAction } from '../bulk/bulk-actions.js';
import { BulkDialog, type BulkSelection } from '../bulk/bulk-dialog.js';
import { JobProgress } from '../bulk/job-progress.js';
import { useBulkJob } from '../bulk/use-bulk-jobs.js';
import type { RunQuery } from './run-filter.js';

interface BulkBarProps {
  readonly selected: ReadonlySet<string>;
  /** Whether all matching runs, on all pages, are selected. */
  readonly isEverything: boolean;
  readonly onEverything: (isEverything: boolean) => void;
  /** The filter, limited to the runs started until now. */
  readonly queryNow: () => RunQuery;
  /** The job that was started here last. */
  readonly jobId: string | null;
  readonly onJob: (jobId: string | null) => void;
  readonly onClear: () => void;
}

/** The actions that are offered as buttons; the dialog offers all. */
const SHOWN: readonly BulkAction[] = ['suspend', 'resume', 'retry', 'modify', 'terminate'];

interface Asking {
  readonly action: BulkAction;
  readonly selection: BulkSelection;
}

/** The actions on many runs. The bar is always visible, so that users find it. */
export function BulkBar(props: BulkBarProps): ReactNode {
  const { selected, isEverything, onEverything, queryNow, jobId, onJob, onClear } = props;
  const [asking, setAsking] = useState<Asking | null>(null);
  const isNothing = selected.size === 0 && !isEverything;
  const ask = (action: BulkAction): void =>
    setAsking({
      action,
      selection: isEverything ? { query: queryNow() } : { ids: [...selected] },
    });
  return (
    <div className="bulk-bar" role="group" aria-label="Actions on many runs">
      <label className="bulk-everything">
        <input
          type="checkbox"
          checked={isEverything}
          onChange={({ target }) => onEverything(target.checked)}
        />
        <span>Select all matching runs</span>
      </label>
      {SHOWN.map((action) => (
        <Button
          key={action}
          isSmall
          needs="controller"
          variant={BULK_ACTIONS[action].isDangerous === true ? 'danger' : 'plain'}
          isDisabled={isNothing}
          onPress={() => ask(action)}
        >
          {BULK_ACTIONS[action].label}
        </Button>
      ))}
      <span className="quiet">{chosenText(selected.size, isEverything)}</span>
      {selected.size > 0 && (
        <Button isSmall variant="quiet" onPress={onClear}>
          Clear selection
        </Button>
      )}
      {jobId !== null && <StartedJob id={jobId} onClose={() => onJob(null)} />}
      {asking !== null && (
        <BulkDialog
          {...asking}
          onStarted={(id) => {
            onJob(id);
            onClear();
            onEverything(false);
          }}
          onClose={() => setAsking(null)}
        />
      )}
    </div>
  );
}

function chosenText(count: number, isEverything: boolean): string {
  if (isEverything) return 'All pages selected';
  return count === 0 ? 'Select runs to control them' : `${count} selected`;
}

/** The progress of the job, and where to find its failures. */
function StartedJob({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}): ReactNode {
  const job = useBulkJob(id).data;
  if (job === undefined) return null;
  return (
    <JobProgress job={job}>
      <Link href={toPath('bulk', id)}>{job.failed > 0 ? 'Show the failures' : 'Details'}</Link>
      {job.state !== 'Running' && (
        <Button isSmall variant="quiet" onPress={onClose}>
          Close
        </Button>
      )}
    </JobProgress>
  );
}
