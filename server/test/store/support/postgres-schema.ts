/** A separate schema for a test, on the server that a test run shares. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

export interface TestSchema {
  readonly name: string;
  /** The address of a store on it. */
  readonly url: string;
  /** For checks without the contract; on the same database. */
  readonly client: pg.Client;
  /** Removes all rows. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

export async function openTestSchema(serverUrl: string): Promise<TestSchema> {
  const name = `test-${randomUUID()}`;
  const url = new URL(serverUrl);
  url.searchParams.set('schema', name);
  const client = new pg.Client({ connectionString: serverUrl });
  client.on('error', () => undefined);
  await client.connect();
  return {
    name,
    url: url.href,
    client,
    clear: async () => {
      const { rows } = await client.query<{ readonly name: string }>(
        `SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> 'migrations'`,
        [name],
      );
      const deletions = rows.map((table) => `DELETE FROM "${name}"."${table.name}"`);
      await client.query(deletions.join(';'));
    },
    drop: async () => {
      await client.query(`DROP SCHEMA IF EXISTS "${name}" CASCADE`);
      await client.end();
    },
  };
}
