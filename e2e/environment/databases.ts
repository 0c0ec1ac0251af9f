/** A new, empty database for the nodes of one test. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';

/** `mongo` comes with Redis. */
export type StoreName = 'sqlite' | 'mongo' | 'postgres';

/** Stores that run on a separate server, reached over the network: nodes need not share a machine. */
export const REMOTE_STORES = ['mongo', 'postgres'] as const;

/** Address of the server; null for `sqlite`, and if this test run has none. */
export function serverOf(store: StoreName): string | null {
  return store === 'sqlite' ? null : inject(store);
}

/**
 * Settings of a node. Empty for the embedded store, which also stands in for a server that this test run does not have.
 */
export function newDatabase(store: StoreName): Readonly<Record<string, string>> {
  const dbhost = serverOf(store);
  if (dbhost === null) return {};
  const name = `e2e_${randomBytes(4).toString('hex')}`;
  return store === 'postgres' ? { dbhost: `${dbhost}?schema=${name}` } : { dbhost, db_name: name };
}
