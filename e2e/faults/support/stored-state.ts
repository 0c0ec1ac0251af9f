/** The size of an instance in the store, read without the server. */
import { MongoClient, type Binary } from 'mongodb';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Fleet } from './fleet.js';

/** The size of the instance's state as it is stored; MongoDB compresses long states. */
export async function storedStateBytes({ database }: Fleet, workflowId: string): Promise<number> {
  if (database.kind === 'sqlite') {
    const file = new DatabaseSync(database.file, { readOnly: true });
    try {
      const query = 'SELECT length(CAST(state AS BLOB)) AS bytes FROM instances WHERE id = ?';
      return Number(file.prepare(query).get(workflowId)?.['bytes'] ?? 0);
    } finally {
      file.close();
    }
  }
  if (database.kind === 'postgres') return bytesInPostgres(database.dbhost, workflowId);
  const client = new MongoClient(database.dbhost);
  try {
    const instances = client
      .db(database.name)
      .collection<{ readonly _id: string; readonly state: string | Binary }>('instances');
    const state = (await instances.findOne({ _id: workflowId }))?.state ?? '';
    return typeof state === 'string' ? Buffer.byteLength(state) : state.length();
  } finally {
    await client.close();
  }
}

async function bytesInPostgres(dbhost: string, workflowId: string): Promise<number> {
  const { searchParams } = new URL(dbhost);
  const client = new pg.Client({ connectionString: dbhost });
  await client.connect();
  try {
    const query = `SELECT octet_length(state) AS bytes FROM "${searchParams.get('schema') ?? ''}".instances WHERE id = $1`;
    const { rows } = await client.query<{ readonly bytes: number }>(query, [workflowId]);
    return rows[0]?.bytes ?? 0;
  } finally {
    await client.end();
  }
}
