/**
 * Rates of limits: the generic cell rate algorithm. All that is kept of a key is one time, until which its budget is spent. In any
 * window of length W, at most `burst + W × count / perMs` units begin.
 */
/** At most `count` units in `perMs`, of which `burst` may begin at once. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
  readonly burst: number;
}

/** What a limit allows, for each key. */
export interface LimitRule {
  /** How many units are held at a time; null: any number. */
  readonly concurrency: number | null;
  /** Null: any number of units may begin. */
  readonly rate: Rate | null;
}

/** What is used of a limit for one key. */
export interface KeyUse {
  /** Units. */
  readonly held: number;
  /** See `spend`. */
  readonly spentUntil: number;
}

/** When so many units may begin. @param spentUntil see `spend` */
export function beginTimeOf(rate: Rate, spentUntil: number, units: number): number {
  return spentUntil + (units - rate.burst) * intervalOf(rate);
}

/** Until when the budget is spent once so many units have begun. */
export function spend(
  rate: Rate,
  spentUntil: number,
  { at, units }: { readonly at: number; readonly units: number },
): number {
  return Math.max(spentUntil, at) + units * intervalOf(rate);
}

/** How many units may begin now; infinite without a limit. */
export function roomOf(
  { concurrency, rate }: LimitRule,
  { held, spentUntil }: KeyUse,
  now: number,
): number {
  const free = concurrency === null ? Infinity : Math.max(0, concurrency - held);
  if (rate === null) return free;
  const spent = Math.max(0, spentUntil - now) / intervalOf(rate);
  // A sum of intervals is not exact.
  return Math.min(free, Math.max(0, Math.floor(rate.burst - spent + 1e-6)));
}

function intervalOf({ count, perMs }: Rate): number {
  return perMs / count;
}

/** The rule in the body of a limit's resource; null if the body can't be read. */
export function readLimitRule(body: string): LimitRule | null {
  try {
    const { concurrency, rate } = JSON.parse(body) as LimitRule;
    return { concurrency: concurrency ?? null, rate: rate ?? null };
  } catch {
    return null;
  }
}
