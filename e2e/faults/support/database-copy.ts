/** A copy of the stored data of a fleet, with which another fleet can start. */
import { MongoClient, type Collection } from 'mongodb';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { FleetDatabase } from './fleet.js';

const BATCH = 500;

/** Uses SQLite's own backup while servers write to the file. Returns the folder for DATA_DIR. */
export async function backUpFile(file: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-restored-'));
  const source = new DatabaseSync(file, { readOnly: true });
  try {
    await backup(source, path.join(folder, 'stepwright.db'));
  } finally {
    source.close();
  }
  return folder;
}

/**
 * Copies all collections, one after the other: consistent only while no server writes. Returns the name of the copy.
 */
export async function copyDatabase({
  dbhost,
  name,
}: Extract<FleetDatabase, { readonly kind: 'mongo' }>): Promise<string> {
  const copy = `${name}_restored`;
  const client = new MongoClient(dbhost);
  try {
    for (const { name: collection } of await client.db(name).listCollections().toArray()) {
      await copyDocuments(
        client.db(name).collection(collection),
        client.db(copy).collection(collection),
      );
    }
  } finally {
    await client.close();
  }
  return copy;
}

async function copyDocuments(source: Collection, target: Collection): Promise<void> {
  const batch: object[] = [];
  for await (const document of source.find()) {
    batch.push(document);
    if (batch.length === BATCH) await target.insertMany(batch.splice(0));
  }
  if (batch.length > 0) await target.insertMany(batch);
}

/**
 * Copies all tables into another schema, one after the other: consistent only while no server writes. Returns the address
 * of the copy.
 */
export async function copySchema({
  dbhost,
}: Extract<FleetDatabase, { readonly kind: 'postgres' }>): Promise<string> {
  const address = new URL(dbhost);
  const source = address.searchParams.get('schema') ?? '';
  const copy = `${source}_restored`;
  address.searchParams.set('schema', copy);
  const client = new pg.Client({ connectionString: dbhost });
  await client.connect();
  try {
    await client.query(`CREATE SCHEMA "${copy}"`);
    const { rows } = await client.query<{ readonly name: string; readonly columns: string }>(
      `SELECT table_name AS name, string_agg(quote_ident(column_name), ', ') AS columns
         FROM information_schema.columns WHERE table_schema = $1 AND is_generated = 'NEVER' GROUP BY table_name`,
      [source],
    );
    for (const { columns, name } of rows) {
      await client.query(`CREATE TABLE "${copy}".${name} (LIKE "${source}".${name} INCLUDING ALL)`);
      await client.query(
        `INSERT INTO "${copy}".${name} (${columns}) SELECT ${columns} FROM "${source}".${name}`,
      );
    }
  } finally {
    await client.end();
  }
  return address.href;
}
