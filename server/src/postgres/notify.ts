/** Notifications that are worth no more than a hint. */

/**
 * Sends the payloads `$2` on the channel `$1`, in one transaction. The commit does not wait for the disk: a notification
 * that a crash of the database loses was of no further use anyway.
 */
export const NOTIFY_STATEMENT = `
SELECT set_config('synchronous_commit', 'off', true), (SELECT count(pg_notify($1, payload)) FROM unnest($2::text[]) AS payload)`;
