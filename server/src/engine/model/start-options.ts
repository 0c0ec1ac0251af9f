/** What happens when an open instance of the same definition already has the reference of a start. */
export const ON_CONFLICT = ['allow', 'fail', 'existing', 'terminate'] as const;
export type OnConflict = (typeof ON_CONFLICT)[number];
