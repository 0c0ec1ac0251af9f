/**
 * Migrates the tables to the version of this server.
 *
 * One node does so, under a lock that ends with its transaction; the others wait and then have nothing to do. A migration is
 * never undone: a server that is older than the tables doesn't start.
 */
import type { Database, Statements } from './database.js';
import { MIGRATIONS } from './migrations/all-migrations.js';
import { quoteName } from './prepared-texts.js';

const SERVER_VERSION_MIN = 140_000;

/** The version of an entry that is among the migrations while the tables hold an incomplete copy of another store. */
export const UNFINISHED_IMPORT = 2_000_000_000;

/** @throws Error with the reason why this database can't be used */
export async function migrate(database: Database, schema: string): Promise<void> {
  await checkServer(database);
  const newest = MIGRATIONS.length;
  // If there is nothing to do, this needs neither the lock nor the permission to create anything.
  if ((await versionOf(database, schema)) === newest) return;
  await database.transaction(async (statements) => {
    // Building an index on a large table takes as long as it takes.
    await statements.execute('SET LOCAL statement_timeout = 0');
    // And so does waiting for another node that builds it.
    await statements.execute('SET LOCAL lock_timeout = 0');
    await statements.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text', [
      `stepwright ${schema}`,
    ]);
    const version = await versionOf(statements, schema);
    if (version === null) await createSchema(statements, schema);
    for (const migration of MIGRATIONS.slice(version ?? 0)) {
      for (const statement of migration.statements) await statements.execute(statement);
      await statements.execute(
        'INSERT INTO @migrations (version, name, applied_at) VALUES ($1, $2, now())',
        [migration.version, migration.name],
      );
    }
  });
}

async function checkServer(database: Database): Promise<void> {
  const [server] = await database.query(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
            current_setting('server_encoding') AS encoding`,
  );
  if (server === undefined) return;
  if (server.number('number') < SERVER_VERSION_MIN) {
    throw new Error(
      `The database server is PostgreSQL ${server.text('version')}; version 14 or later is required`,
    );
  }
  if (server.text('encoding') !== 'UTF8') {
    throw new Error(
      `The database has the encoding ${server.text('encoding')}; create one with the encoding UTF8`,
    );
  }
}

/** Null: there are no tables. @throws Error if a newer server has changed them */
async function versionOf(statements: Statements, schema: string): Promise<number | null> {
  // Reads the catalog itself: to_regclass may answer from a cache that misses commits while this session waited
  // for the lock.
  const [found] = await statements.query(
    `SELECT 1 AS found FROM pg_class AS t JOIN pg_namespace AS s ON s.oid = t.relnamespace
      WHERE s.nspname = $1 AND t.relname = 'migrations'`,
    [schema],
  );
  if (found === undefined) return null;
  const [last] = await statements.query('SELECT max(version) AS version FROM @migrations');
  const version = last?.numberOrNull('version') ?? 0;
  if (version === UNFINISHED_IMPORT) {
    throw new Error(
      `The schema ${schema} of the database holds an unfinished copy of another store: run migrate-store again, or drop ` +
        'the schema',
    );
  }
  if (version > MIGRATIONS.length) {
    throw new Error(
      `The schema ${schema} of the database was written by a newer version of the server (version ${version}, ` +
        `this server knows up to ${MIGRATIONS.length}); start that version, or use another schema`,
    );
  }
  return version;
}

async function createSchema(statements: Statements, schema: string): Promise<void> {
  // A user without the permission to create schemas may use an existing one.
  const [known] = await statements.query('SELECT 1 AS found FROM pg_namespace WHERE nspname = $1', [
    schema,
  ]);
  if (known === undefined) await statements.execute(`CREATE SCHEMA ${quoteName(schema)}`);
  await statements.execute(
    'CREATE TABLE @migrations (version int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL)',
  );
}
