/** Summarizes the results of a bulk job as text. Pure. */
import type { WorkflowSummary } from '@stepwright/sdk';

/** Maximum number of runs whose results are counted. */
export const RESULTS_MAX = 500;

type Result = Pick<WorkflowSummary, 'status' | 'outcome' | 'failureTime'>;

/** `Of 500 runs, 480 have failed again and 20 have completed.` */
export function resultText(
  runs: readonly Result[],
  matched: number,
  /** The start of the job. Earlier failures are the ones that the job was meant to fix. */
  startTime: string,
): string {
  const counts = new Map<string, number>();
  for (const run of runs) {
    const words = wordsOf(run, startTime);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  const parts = ORDER.flatMap((words) => {
    const count = counts.get(words) ?? 0;
    return count === 0 ? [] : [`${count.toLocaleString('en')} ${words}`];
  });
  const total = runs.length.toLocaleString('en');
  const removed = matched - runs.length;
  if (matched > RESULTS_MAX) return `Of the first ${total} runs: ${parts.join(', ')}.`;
  if (removed > 0) parts.push(`${removed.toLocaleString('en')} removed`);
  return `Of ${matched.toLocaleString('en')} ${matched === 1 ? 'run' : 'runs'}: ${parts.join(', ')}.`;
}

const FAILED = 'failed again';
const ORDER = [
  FAILED,
  'completed',
  'compensated',
  'terminated',
  'suspended',
  'still failed',
  'still running, waiting or retrying',
] as const;

function wordsOf({ failureTime, outcome, status }: Result, startTime: string): string {
  if (outcome === 'Succeeded') return 'completed';
  if (outcome === 'Compensated') return 'compensated';
  if (failureTime !== null && failureTime >= startTime) return FAILED;
  if (outcome === 'Terminated') return 'terminated';
  if (outcome === 'Failed') return 'still failed';
  return status === 'Suspended' ? 'suspended' : 'still running, waiting or retrying';
}
