/** How every command ends. `migrate-store` has one more; see docs/migrate-store.md. */
export const EXIT_CODES = { done: 0, failed: 1, misused: 2 } as const;
