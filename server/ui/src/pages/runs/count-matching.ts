/** Counts the runs that match a filter, for the confirmation before a bulk action. */
import type { StepwrightClient } from '@stepwright/sdk';
import type { RunQuery } from './run-filter.js';

/** Counting stops at this number. */
export const COUNT_MAX = 10_000;
const PAGE_SIZE = 500;

export interface MatchCount {
  /** At most COUNT_MAX. */
  readonly count: number;
  /** Whether there are more. */
  readonly isMore: boolean;
}

export async function countMatching(
  { workflows }: StepwrightClient,
  query: RunQuery,
): Promise<MatchCount> {
  let count = 0;
  for await (const page of workflows.list({ ...query, limit: PAGE_SIZE }).pages()) {
    count += page.items.length;
    if (count >= COUNT_MAX) return { count, isMore: page.nextCursor !== null };
  }
  return { count, isMore: false };
}

/** `1,234 runs`, `more than 10,000 runs`. */
export function countInWords({ count, isMore }: MatchCount): string {
  const number = count.toLocaleString('en');
  return `${isMore ? 'more than ' : ''}${number} ${count === 1 ? 'run' : 'runs'}`;
}
