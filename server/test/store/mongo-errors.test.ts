/** A bulk write whose connection broke is wrapped by the driver like an answer of the server; it must not pass for one. */
import { MongoBulkWriteError, MongoNetworkError, type BulkWriteResult } from 'mongodb';
import { expect, it } from 'vitest';
import { duplicatesOf, storeErrorOf } from '../../src/store/mongo/mongo-errors.js';
import { StoreUnavailableError } from '../../src/store/store.js';

/** As the driver makes it, in its module `bulk/common`. */
function brokenBulkWrite(): MongoBulkWriteError {
  const cause = new MongoNetworkError('read ECONNRESET');
  // The result is not looked at; a real one cannot be made outside of the driver.
  const result = {} as unknown as BulkWriteResult;
  return new MongoBulkWriteError(cause, result);
}

it('an interrupted bulk write counts as an outage', () => {
  expect(storeErrorOf(brokenBulkWrite())).toBeInstanceOf(StoreUnavailableError);
});

it('an interrupted bulk write does not count as one without duplicates', () => {
  const error = brokenBulkWrite();
  expect(() => duplicatesOf(error)).toThrow(error);
});
