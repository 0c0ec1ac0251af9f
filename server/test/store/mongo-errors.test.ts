/** The driver wraps a bulk write whose connection broke like a response of the server; it must not count as one. */
import { MongoBulkWriteError, MongoNetworkError, type BulkWriteResult } from 'mongodb';
import { expect, it } from 'vitest';
import { writeFailuresIn, storeErrorOf } from '../../src/store/mongo/mongo-errors.js';
import { StoreUnavailableError } from '../../src/store/store.js';

/** As the driver creates it, in its module `bulk/common`. */
function brokenBulkWrite(): MongoBulkWriteError {
  const cause = new MongoNetworkError('read ECONNRESET');
  // The result is not read; a real one cannot be created outside the driver.
  const result = {} as unknown as BulkWriteResult;
  return new MongoBulkWriteError(cause, result);
}

it('treats an interrupted bulk write as an outage', () => {
  expect(storeErrorOf(brokenBulkWrite())).toBeInstanceOf(StoreUnavailableError);
});

it("doesn't mistake an interrupted bulk write for one without duplicates", () => {
  const error = brokenBulkWrite();
  expect(() => writeFailuresIn(error)).toThrow(error);
});
