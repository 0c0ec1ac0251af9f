import type { ReactNode } from 'react';

/** The word and the colour; never the colour alone. */
const TONES: Readonly<Record<string, string>> = {
  Runnable: 'running',
  Running: 'running',
  Pending: 'idle',
  Waiting: 'waiting',
  Suspended: 'warning',
  Complete: 'good',
  Terminated: 'bad',
  Failed: 'bad',
  Cancelled: 'idle',
  Compensated: 'warning',
};

/** The status of a run or of one execution of a step. */
export function StatusBadge({ status }: { readonly status: string }): ReactNode {
  return (
    <span className={`badge ${Object.hasOwn(TONES, status) ? TONES[status] : 'idle'}`}>
      {status}
    </span>
  );
}
