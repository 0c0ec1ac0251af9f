/** How many runs a filter finds, as far as somebody wants to know before acting on them. */
import type { OperatorApi, RunQuery } from '../../api/operator-api.js';

/** Counting goes on no further. */
export const COUNT_MAX = 10_000;
const PAGE_SIZE = 500;

export interface MatchCount {
  /** COUNT_MAX at most. */
  readonly count: number;
  /** There are more. */
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
