/** Files as earlier versions of the server wrote them. */
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { createSqliteStore } from '../../../src/store/sqlite/sqlite-store.js';

/** The objects of a database, as SQLite stores them. */
function schemaOf(path: string): unknown {
  const connection = new DatabaseSync(path);
  const objects = connection
    .prepare('SELECT type, name, tbl_name FROM sqlite_schema ORDER BY type, name')
    .all();
  const columns = objects.map(({ name }) =>
    connection.prepare(`SELECT name FROM pragma_table_info('${String(name)}')`).all(),
  );
  connection.close();
  return { objects, columns };
}

export async function openOldFile(
  path: string,
  version: 1 | 2 | 3 | 4 | 5 | 6 | 10 | 12 | 13 | 14,
): Promise<DatabaseSync> {
  const connection = new DatabaseSync(path);
  const tables = new URL(`./schema-${version}.sql`, import.meta.url);
  connection.exec(await readFile(tables, { encoding: 'utf8' }));
  return connection;
}

/** It has the same tables and indexes as a new file. */
export async function expectSchemaOfNewFile(path: string): Promise<void> {
  const newPath = `${path}-new`;
  const fresh = createSqliteStore({ path: newPath });
  await fresh.start();
  await fresh.stop();
  expect(schemaOf(path)).toEqual(schemaOf(newPath));
}
