/**
 * The current speed of the engine of the embedded store on this machine, with the same driver: durable writes of one
 * instance document each. The ratio to it shows how much of the speed of the disk the server can use.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface RawStore {
  /** One synced commit for each write, sequentially. */
  readonly singleMs: number;
  /** Writes per second with 32 of them in each synced commit. */
  readonly batchedPerSecond: number;
}

const BATCH = 32;

export function measureRawStore(documentBytes: number): RawStore {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepwright-raw-'));
  const database = new DatabaseSync(path.join(folder, 'raw.db'));
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec('CREATE TABLE documents (id TEXT PRIMARY KEY, state TEXT) WITHOUT ROWID');
    const insert = database.prepare('INSERT INTO documents VALUES (?, ?)');
    const state = 'x'.repeat(documentBytes);
    const singles = 300;
    const singleStart = performance.now();
    for (let n = 0; n < singles; n += 1) insert.run(`s${n}`, state);
    const singleMs = (performance.now() - singleStart) / singles;
    const batches = 100;
    const batchStart = performance.now();
    for (let batch = 0; batch < batches; batch += 1) {
      database.exec('BEGIN IMMEDIATE');
      for (let n = 0; n < BATCH; n += 1) insert.run(`b${batch}-${n}`, state);
      database.exec('COMMIT');
    }
    const seconds = (performance.now() - batchStart) / 1000;
    return { singleMs, batchedPerSecond: (batches * BATCH) / seconds };
  } finally {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
