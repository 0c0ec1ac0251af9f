/** The current speed of PostgreSQL with the same driver: durable writes of one instance row each. */
import pg from 'pg';
import type { RawStore } from './raw-store.ts';

const SINGLES = 300;
const BATCHES = 100;
const BATCH = 32;

export async function measureRawPostgres(dbhost: string, documentBytes: number): Promise<RawStore> {
  const client = new pg.Client({ connectionString: dbhost });
  await client.connect();
  const schema = `bench_raw_${process.pid}`;
  try {
    await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(`CREATE TABLE ${schema}.documents (id text PRIMARY KEY, state text)`);
    const state = 'x'.repeat(documentBytes);
    const insert = `INSERT INTO ${schema}.documents SELECT * FROM unnest($1::text[], $2::text[])`;
    await client.query(insert, [['first'], [state]]);
    const singleStart = performance.now();
    for (let n = 0; n < SINGLES; n += 1) await client.query(insert, [[`s${n}`], [state]]);
    const singleMs = (performance.now() - singleStart) / SINGLES;
    const batchStart = performance.now();
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const ids = Array.from({ length: BATCH }, (_, n) => `b${batch}-${n}`);
      await client.query(insert, [ids, ids.map(() => state)]);
    }
    const seconds = (performance.now() - batchStart) / 1000;
    return { singleMs, batchedPerSecond: (BATCHES * BATCH) / seconds };
  } finally {
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.end();
  }
}
