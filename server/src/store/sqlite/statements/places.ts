/** Places: see ../../records/places.ts. A grant runs in a write transaction. */
import { grantSteps } from '../../sql/places.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';

export function grantPlaces(
  database: Database,
  [request]: OperationArguments<'grantPlaces'>,
): OperationResult<'grantPlaces'> {
  return runSteps(database, grantSteps(request));
}
