/** Slots: see ../../records/slots.ts. A grant runs in a write transaction. */
import { grantSteps } from '../../sql/slots.js';
import type { OperationArguments, OperationResult } from '../../store-operations.js';
import type { Database } from '../database.js';
import { runSteps } from '../shared-operations.js';

export function grantSlots(
  database: Database,
  [request]: OperationArguments<'grantSlots'>,
): OperationResult<'grantSlots'> {
  return runSteps(database, grantSteps(request));
}
