import { useState, type ReactNode } from 'react';
import type { ControlAction } from '@stepwright/sdk';
import type { RunQuery } from './run-filter.js';
import { Button } from '../../components/button.js';
import { useConfirm } from '../../components/confirm-dialog.js';
import { useToasts } from '../../components/toasts.js';
import { useSession } from '../../app/session.js';
import { problemText } from '../../components/problem-view.js';
import type { BulkControl, BulkJob, BulkProgress } from './use-bulk-job.js';
import { runsText, type RunCount } from './use-run-count.js';

/** A filter, and how many runs match it. */
export interface Matching {
  readonly query: RunQuery;
  readonly found: RunCount;
}

interface BulkBarProps {
  readonly selectedCount: number;
  /** Whether all matching runs, on all pages, are selected. */
  readonly isEverything: boolean;
  readonly job: BulkJob;
  readonly onEverything: (isEverything: boolean) => void;
  /** The filter, limited to the runs started until now. */
  readonly queryNow: () => RunQuery;
  readonly onAction: (control: BulkControl, matching: Matching | null) => void;
  readonly onClear: () => void;
}

const ACTIONS: readonly {
  readonly action: ControlAction;
  readonly label: string;
  /** The start of the question "Suspend 3 runs?". */
  readonly verb: string;
  readonly text: string;
}[] = [
  {
    action: 'suspend',
    label: 'Suspend',
    verb: 'Suspend',
    text: 'Steps in progress finish. No further steps start until the runs are resumed.',
  },
  {
    action: 'resume',
    label: 'Resume',
    verb: 'Resume',
    text: 'Suspended runs continue. Failed steps are retried.',
  },
  {
    action: 'retry',
    label: 'Retry now',
    verb: 'Retry',
    text: 'Steps that are waiting for a retry are retried immediately.',
  },
  {
    action: 'terminate',
    label: 'Terminate',
    verb: 'Terminate',
    text: 'The runs end permanently. This cannot be undone.',
  },
];

/** The actions on many runs. The bar is always visible, so that users find it. */
export function BulkBar(props: BulkBarProps): ReactNode {
  const { selectedCount, isEverything, job, onEverything, onAction, onClear } = props;
  const confirm = useConfirm();
  const { isCounting, count } = useMatching(props);
  const isBusy = job.progress?.state === 'running' || job.progress?.state === 'stopping';
  const isNothing = selectedCount === 0 && !isEverything;
  const act = async ({ action, label, verb, text }: (typeof ACTIONS)[number]): Promise<void> => {
    const matching = isEverything ? await count() : null;
    if (isEverything && matching === null) return;
    const what = runsText(matching?.found ?? { count: selectedCount, exact: true });
    let compensate = false;
    const isWanted = await confirm({
      title: `${verb} ${what}?`,
      text: isEverything ? `All runs that match the filter now. ${text}` : text,
      confirm: label,
      ...(action === 'terminate' && {
        isDangerous: true,
        checkbox: {
          label: 'Compensate completed steps first',
          onChange: (isChosen: boolean) => {
            compensate = isChosen;
          },
        },
      }),
    });
    if (isWanted) onAction({ action, compensate }, matching);
  };
  return (
    <div className="bulk-bar" role="group" aria-label="Actions on many runs">
      <EverythingBox isEverything={isEverything} onEverything={onEverything} />
      {ACTIONS.map((entry) => (
        <Button
          key={entry.action}
          isSmall
          needs="controller"
          variant={entry.action === 'terminate' ? 'danger' : 'plain'}
          isDisabled={isNothing || isBusy || isCounting}
          onPress={() => void act(entry)}
        >
          {entry.label}
        </Button>
      ))}
      <span className="quiet">
        {isCounting ? 'Counting the matching runs …' : chosenText(props)}
      </span>
      {selectedCount > 0 && (
        <Button isSmall variant="quiet" onPress={onClear}>
          Clear selection
        </Button>
      )}
      {job.progress !== null && <JobProgress progress={job.progress} job={job} />}
    </div>
  );
}

function EverythingBox({
  isEverything,
  onEverything,
}: Pick<BulkBarProps, 'isEverything' | 'onEverything'>): ReactNode {
  return (
    <label className="bulk-everything">
      <input
        type="checkbox"
        checked={isEverything}
        onChange={({ target }) => onEverything(target.checked)}
      />
      <span>Select all matching runs</span>
    </label>
  );
}

function chosenText({ isEverything, selectedCount }: BulkBarProps): string {
  if (isEverything) return 'All pages selected';
  return selectedCount === 0 ? 'Select runs to control them' : `${selectedCount} selected`;
}

interface Counting {
  readonly isCounting: boolean;
  /** Null if counting failed; the user has been told. */
  readonly count: () => Promise<Matching | null>;
}

/** Counts the matching runs before the user is asked to confirm. */
function useMatching({ queryNow }: Pick<BulkBarProps, 'queryNow'>): Counting {
  const { client, noticeFailure } = useSession();
  const { notifyError } = useToasts();
  const [isCounting, setCounting] = useState(false);
  const count = async (): Promise<Matching | null> => {
    setCounting(true);
    try {
      const query = queryNow();
      return { query, found: await client.workflows.count(query) };
    } catch (error) {
      noticeFailure(error);
      notifyError('Counting the runs failed', error);
      return null;
    } finally {
      setCounting(false);
    }
  };
  return { isCounting, count };
}

const STATE_WORDS = {
  running: 'in progress',
  stopping: 'is stopping',
  stopped: 'stopped',
  finished: 'finished',
  failed: 'failed',
} as const;

function JobProgress({
  progress,
  job,
}: {
  readonly progress: BulkProgress;
  readonly job: BulkJob;
}): ReactNode {
  const { action, done, refused, missing, total, state, error } = progress;
  const label = ACTIONS.find((entry) => entry.action === action)?.label ?? action;
  const parts = [
    `${done}${total === null ? '' : ` of ${total}`} done`,
    ...(refused > 0 ? [`${refused} not possible in their status`] : []),
    ...(missing > 0 ? [`${missing} not found`] : []),
  ];
  const isRunning = state === 'running' || state === 'stopping';
  return (
    <div className={`bulk-progress ${state}`}>
      <span role="status">
        <strong>
          {label} {STATE_WORDS[state]}
        </strong>
        : {parts.join(', ')}
        {state === 'failed' && `. ${problemText(error)}`}
      </span>
      {isRunning && (
        <progress
          aria-label="Progress"
          max={total ?? undefined}
          value={total === null ? undefined : done + refused + missing}
        />
      )}
      {isRunning ? (
        <Button isSmall isDisabled={state === 'stopping'} onPress={job.stop}>
          Stop
        </Button>
      ) : (
        <Button isSmall variant="quiet" onPress={job.dismiss}>
          Close
        </Button>
      )}
    </div>
  );
}
