/** The actions on many runs, with their labels. Pure. */
import type { BulkJob, BulkJobSummary, BulkRequest } from '@stepwright/sdk';

export type BulkAction = BulkRequest['action'];

interface ActionWords {
  readonly label: string;
  /** The effect on a run that the job has acted on. */
  readonly done: string;
  /** The effect of the action on each run. */
  readonly text: string;
  readonly isDangerous?: boolean;
}

export const BULK_ACTIONS: Readonly<Record<BulkAction, ActionWords>> = {
  suspend: {
    label: 'Suspend',
    done: 'suspended',
    text: 'Steps in progress finish. No further steps start until the runs are resumed.',
  },
  resume: {
    label: 'Resume',
    done: 'resumed',
    text: 'Suspended runs continue. Failed steps are retried.',
  },
  retry: {
    label: 'Retry now',
    done: 'requested',
    text: 'Steps that are waiting for a retry are retried immediately.',
  },
  modify: {
    label: 'Repair',
    done: 'repaired',
    text: 'Open steps are canceled, the data is changed, and the runs continue at a step.',
  },
  restart: {
    label: 'Restart',
    done: 'restarted',
    text: 'A new run starts for each, with the same input, reference, tags, priority and fairness. The runs stay as they are.',
  },
  priority: {
    label: 'Change priority',
    done: 'changed',
    text: 'Work that waits moves to its new place. Work in progress is not affected.',
  },
  terminate: {
    label: 'Terminate',
    done: 'requested',
    text: 'Open steps are canceled, and the runs end permanently. Completed steps are not compensated unless you choose so.',
    isDangerous: true,
  },
  purge: {
    label: 'Purge',
    done: 'purged',
    text: 'Ended runs are removed with their history. This cannot be undone.',
    isDangerous: true,
  },
};

// Object.keys loses the type of the keys.
export const BULK_ACTION_NAMES = Object.keys(BULK_ACTIONS) as readonly BulkAction[];

/** The number of runs that a job has handled. */
export function handledCount({ done, skipped, failed }: BulkJobSummary): number {
  return done + skipped + failed;
}

/** `Resume finished: 480 of 500 resumed, 20 skipped because of their status` */
export function progressText(job: BulkJobSummary | BulkJob): string {
  const { action, state, done, skipped, failed, matched, exact } = job;
  const words = { Running: 'in progress', Done: 'finished', Stopped: 'stopped' }[state];
  const total = `${matched.toLocaleString('en')}${exact ? '' : '+'}`;
  const parts = [
    `${done.toLocaleString('en')} of ${total} ${BULK_ACTIONS[action].done}`,
    ...(skipped > 0 ? [`${skipped.toLocaleString('en')} skipped because of their status`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
  ];
  return `${BULK_ACTIONS[action].label} ${words}: ${parts.join(', ')}`;
}
