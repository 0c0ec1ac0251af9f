/** Notifications that may be lost, because they are only hints. */

/**
 * Sends the payloads `$2` on the channel `$1`, in one transaction. The commit does not wait for the disk, because after a
 * crash of the database, a notification is of no use anyway.
 */
export const NOTIFY_STATEMENT = `
SELECT set_config('synchronous_commit', 'off', true), (SELECT count(pg_notify($1, payload)) FROM unnest($2::text[]) AS payload)`;
