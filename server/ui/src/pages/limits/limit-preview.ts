/** What a change of a limit does to the steps that hold it, and to those that wait for it. Pure. */
import type { Limit, LimitKey, LimitRequest } from '@stepwright/sdk';
import { periodInWords } from './limit-settings.js';

/** What the change does for one key. */
export interface KeyEffect {
  /** Null: the steps without a key. */
  readonly key: string | null;
  readonly count: number;
}

export interface LimitPreview {
  /** Steps that wait now, and for which the new concurrency has free slots. */
  readonly released: readonly KeyEffect[];
  /** Units that are held now, beyond what the new concurrency allows. */
  readonly exceeded: readonly KeyEffect[];
  /** How many steps go on waiting, of all keys. */
  readonly stillWaiting: number;
  readonly changesRate: boolean;
  /** The released steps begin no faster than the rate allows. */
  readonly hasRate: boolean;
}

type Concurrency = number | null;

/**
 * Assumes that each step needs one unit, as almost all do. The counts are those of the moment at which the limit was read.
 *
 * @param limit as it is now
 * @param request as it will be
 */
export function previewOf(limit: Limit, request: LimitRequest): LimitPreview {
  const after = request.concurrency ?? null;
  const rate = request.rate ?? null;
  const released: KeyEffect[] = [];
  const exceeded: KeyEffect[] = [];
  for (const use of limit.keys) {
    const { held, key } = use;
    const more = freeFor(use, after) - freeFor(use, limit.concurrency);
    if (more > 0) released.push({ key, count: more });
    if (after !== null && held > after) exceeded.push({ key, count: held - after });
  }
  const gone = released.reduce((sum, { count }) => sum + count, 0);
  return {
    released,
    exceeded,
    stillWaiting: Math.max(0, limit.waiting - gone),
    changesRate: !isSameRate(limit.rate, rate),
    hasRate: rate !== null,
  };
}

/** How many of the waiting steps find a free slot. Those that find one now wait for the rate. */
function freeFor({ held, waiting }: LimitKey, concurrency: Concurrency): number {
  return concurrency === null ? waiting : Math.min(waiting, Math.max(0, concurrency - held));
}

function isSameRate(before: Limit['rate'], after: LimitRequest['rate']): boolean {
  if (before === null || after === null || after === undefined) return before === (after ?? null);
  return (
    before.count === after.count &&
    periodInWords(before.per) === periodInWords(after.per) &&
    before.burst === (after.burst ?? 1)
  );
}
