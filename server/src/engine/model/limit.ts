/** Limits of the server, which steps of any definition share, and their bounds. */

/** Maximum number of units that are held at a time. */
export const LIMIT_CONCURRENCY_MAX = 100_000;
/** Maximum number of units that begin in one period. */
export const LIMIT_COUNT_MAX = 1_000_000;
/** The length of a period. */
export const LIMIT_PERIOD_MS = { min: 1000, max: 86_400_000 } as const;
export const LIMIT_DESCRIPTION_LENGTH_MAX = 1000;

/** Maximum number of limits that one step names. */
export const STEP_LIMITS_MAX = 10;
/** Maximum number of units that one step needs of a limit: no limit has more. */
export const LIMIT_UNITS_MAX = 1_000_000;

/** What a limit allows, for each key: at least one of `concurrency` and `rate`. */
export interface LimitSettings {
  readonly description: string | null;
  /** How many units are held at a time; null: any number. */
  readonly concurrency: number | null;
  /** How many units begin in a time; null: any number. */
  readonly rate: LimitRate | null;
}

/** In any window of length W, at most `burst + W × count / perMs` units begin. */
export interface LimitRate {
  readonly count: number;
  readonly perMs: number;
  /** As its author wrote it: a number of seconds, or a text. */
  readonly per: number | string;
  readonly burst: number;
}
