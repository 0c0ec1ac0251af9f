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

/** A start's reference options. Null: as the definition says. */
export interface StartKey {
  readonly reference: string | null;
  readonly onConflict: OnConflict | null;
  readonly conflictScope: ConflictScope | null;
}
