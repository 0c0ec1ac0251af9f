/** Places: see ../records/places.ts. A grant runs in a transaction, under the lock of its key (rule S14). */
import { placesKeyOf } from '../records/places.js';
import { grantSteps } from '../sql/places.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { lockKeys } from './key-locks.js';
import type { PostgresContext } from './postgres-context.js';
import { runSteps } from './shared-operations.js';

export function grantPlaces(
  { database }: PostgresContext,
  [request]: OperationArguments<'grantPlaces'>,
): Promise<OperationResult<'grantPlaces'>> {
  return database.transaction(async (statements) => {
    await lockKeys(statements, [placesKeyOf(request)]);
    return runSteps(statements, grantSteps(request));
  });
}
