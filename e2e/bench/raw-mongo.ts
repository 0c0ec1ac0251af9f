/** The current speed of MongoDB with the same driver: durable writes of one instance document each. */
import { MongoClient } from 'mongodb';
import type { RawStore } from './raw-store.ts';

const SINGLES = 300;
const BATCHES = 100;
const BATCH = 32;

export async function measureRawMongo(dbhost: string, documentBytes: number): Promise<RawStore> {
  const client = await MongoClient.connect(dbhost);
  const database = client.db(`bench_raw_${process.pid}`);
  try {
    const documents = database.collection<{ _id: string; state: string }>('documents', {
      writeConcern: { w: 'majority' },
    });
    const state = 'x'.repeat(documentBytes);
    await documents.insertOne({ _id: 'first', state });
    const singleStart = performance.now();
    for (let n = 0; n < SINGLES; n += 1) await documents.insertOne({ _id: `s${n}`, state });
    const singleMs = (performance.now() - singleStart) / SINGLES;
    const batchStart = performance.now();
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const ids = Array.from({ length: BATCH }, (_, n) => `b${batch}-${n}`);
      await documents.insertMany(ids.map((_id) => ({ _id, state })));
    }
    const seconds = (performance.now() - batchStart) / 1000;
    return { singleMs, batchedPerSecond: (BATCHES * BATCH) / seconds };
  } finally {
    await database.dropDatabase();
    await client.close();
  }
}
