/** Counts the runs that match a filter, for the confirmation before a bulk action. */
import type { OperatorApi, RunQuery } from '../../api/operator-api.js';

/** Counting stops at this number. */
export const COUNT_MAX = 10_000;
const PAGE_SIZE = 500;

export interface MatchCount {
  /** At most COUNT_MAX. */
  readonly count: number;
  /** Whether there are more. */
  readonly isMore: boolean;
}

export async function countMatching(api: OperatorApi, query: RunQuery): Promise<MatchCount> {
  let count = 0;
  let cursor: string | undefined;
  while (count < COUNT_MAX) {
    const page = await api.listRuns({ ...query, limit: PAGE_SIZE, cursor });
    count += page.items.length;
    if (page.nextCursor === null) return { count, isMore: false };
    cursor = page.nextCursor;
  }
  return { count, isMore: true };
}

/** `1,234 runs`, `more than 10,000 runs`. */
export function countInWords({ count, isMore }: MatchCount): string {
  const number = count.toLocaleString('en');
  return `${isMore ? 'more than ' : ''}${number} ${count === 1 ? 'run' : 'runs'}`;
}
