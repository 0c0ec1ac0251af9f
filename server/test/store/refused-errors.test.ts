/** Which errors of databases mean that the data is the reason, and which ones are outages (rule S12). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoInvalidArgumentError, MongoServerError } from 'mongodb';
import { DatabaseError } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { storeErrorOf as mongoErrorOf } from '../../src/store/mongo/mongo-errors.js';
import { storeErrorOf as postgresErrorOf } from '../../src/store/postgres/postgres-errors.js';
import { failureOf } from '../../src/store/sqlite/batch.js';
import { Database } from '../../src/store/sqlite/database.js';
import { StoreRefusedError, StoreUnavailableError } from '../../src/store/store.js';

function postgresError(code: string): DatabaseError {
  const error = new DatabaseError('of the server', 10, 'error');
  error.code = code;
  return error;
}

it.for(['22021', '22003', '22P05', '54000', '54001'])(
  'treats PostgreSQL error %s as a refusal',
  (code) => {
    expect(postgresErrorOf(postgresError(code))).toBeInstanceOf(StoreRefusedError);
  },
);

it.for(['08006', '53100', '53200', '57P01', '40001', '55P03'])(
  'treats PostgreSQL error %s as an outage',
  (code) => {
    expect(postgresErrorOf(postgresError(code))).toBeInstanceOf(StoreUnavailableError);
  },
);

it.for([
  ['an oversized document', new MongoServerError({ code: 10334, message: 'BSONObj size' })],
  ['an update that makes it too large', new MongoServerError({ code: 17419, message: 'x' })],
  [
    'a server on another database',
    new MongoServerError({ code: 1, message: 'index row requires 21376 bytes, maximum is 8191' }),
  ],
  ['the buffer of the driver', new RangeError('offset is out of bounds')],
  [
    'the size of a message',
    new MongoInvalidArgumentError('Document is larger than the maximum size 16777216'),
  ],
] as const)('treats %s as a refusal by MongoDB', ([, error]) => {
  expect(mongoErrorOf(error)).toBeInstanceOf(StoreRefusedError);
});

it('treats other MongoDB errors as outages only if they are', () => {
  const stepDown = new MongoServerError({ code: 189, message: 'x' });
  expect(mongoErrorOf(stepDown)).toBeInstanceOf(StoreUnavailableError);
  const other = new MongoServerError({ code: 2, message: 'bad value' });
  expect(mongoErrorOf(other)).toBe(other);
});

it("treats a value beyond SQLite's limit as a refusal", () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepwright-too-big-'));
  const path = join(folder, 'test.db');
  const database = new Database({ path, busyTimeoutMs: 1000 });
  onTestFinished(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });
  let failure: unknown;
  try {
    database.get('SELECT length(zeroblob(2000000000))');
  } catch (error) {
    failure = failureOf(error, path);
  }
  expect(failure).toMatchObject({ unavailable: false, refused: true });
});
