/** What happens when another instance of the same definition already has the reference of a start. */
export const ON_CONFLICT = ['allow', 'fail', 'existing', 'terminate'] as const;
export type OnConflict = (typeof ON_CONFLICT)[number];

/** Which other instances count: open ones, or all that the server still keeps. */
export const CONFLICT_SCOPES = ['open', 'kept'] as const;
export type ConflictScope = (typeof CONFLICT_SCOPES)[number];
/** As definitions write them, which accept any casing. */
export const CONFLICT_SCOPE_NAMES = ['Open', 'Kept'] as const;

/** What a start says about its reference. Null: what its definition says. */
export interface StartKey {
  readonly reference: string | null;
  readonly onConflict: OnConflict | null;
  readonly conflictScope: ConflictScope | null;
}
