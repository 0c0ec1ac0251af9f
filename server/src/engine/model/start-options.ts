import { describeValue, type Conversion } from '../values/convert-input.js';
import type { Json } from '../values/json.js';

/** How a start behaves if another instance of the definition already has its reference. */
export const ON_CONFLICT = ['allow', 'fail', 'existing', 'terminate', 'queue'] as const;
export type OnConflict = (typeof ON_CONFLICT)[number];

/** Which other instances count: open ones, or all that the server still keeps. */
export const CONFLICT_SCOPES = ['open', 'kept'] as const;
export type ConflictScope = (typeof CONFLICT_SCOPES)[number];
/** As written in definitions, which accept any case. */
export const CONFLICT_SCOPE_NAMES = ['Open', 'Kept'] as const;

/** What happens to a start if as many instances as allowed are open. */
export const ON_FULL = ['Queue', 'Reject'] as const;
export type OnFull = (typeof ON_FULL)[number];
export const CONCURRENCY_MAX = 10_000;
export const MAX_QUEUED_MAX = 1_000_000;

/** The order in which work waits: 1 goes first. */
export const PRIORITIES = [1, 2, 3, 4, 5] as const;
export type Priority = (typeof PRIORITIES)[number];
export const DEFAULT_PRIORITY: Priority = 3;

/** Null: the value is no priority. */
export function priorityOf(value: unknown): Priority | null {
  return PRIORITIES.find((each) => each === value) ?? null;
}

/** Among items of equal priority, those of each key take turns, in proportion to their weights. */
export interface Fairness {
  /** From 1 to 256 characters. */
  readonly key: string;
  /** From `FAIRNESS_WEIGHT_MIN` to `FAIRNESS_WEIGHT_MAX`. */
  readonly weight: number;
}

export const FAIRNESS_WEIGHT_MIN = 0.01;
export const FAIRNESS_WEIGHT_MAX = 100;
export const DEFAULT_FAIRNESS_WEIGHT = 1;

export function toFairnessWeight(value: Json): Conversion<number> {
  const [least, most] = [FAIRNESS_WEIGHT_MIN, FAIRNESS_WEIGHT_MAX];
  if (typeof value === 'number' && value >= least && value <= most) return { ok: true, value };
  const message = `expected a number from ${least} to ${most}, but got ${describeValue(value)}`;
  return { ok: false, message };
}

/** A start's fairness options. Omitted members: as the definition says. */
export interface StartFairness {
  /** Null: none. */
  readonly key?: string | null;
  readonly weight?: number;
}

/** A start's reference options. Null: as the definition says. */
export interface StartKey {
  readonly reference: string | null;
  readonly onConflict: OnConflict | null;
  readonly conflictScope: ConflictScope | null;
}
