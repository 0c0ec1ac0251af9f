/** Slots: see ../records/slots.ts. A grant runs in a transaction, under the locks of its keys (rule S15). */
import { keyIdOf, slotsKeyOf } from '../records/slots.js';
import { nextEffects } from '../sql/slot-lines.js';
import { grantSteps } from '../sql/slots.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { lockKeys } from './key-locks.js';
import type { PostgresContext } from './postgres-context.js';
import { runSteps } from './shared-operations.js';

/** The locks come before any row. Those of whom others are first by then are left to the next request. */
export function grantSlots(
  { database }: PostgresContext,
  [request]: OperationArguments<'grantSlots'>,
): Promise<OperationResult<'grantSlots'>> {
  return database.transaction(async (statements) => {
    const candidates = await runSteps(statements, nextEffects(request));
    const keys = [request, ...candidates.waits.flatMap(({ needs }) => needs)];
    await lockKeys(statements, keys.map(slotsKeyOf));
    const locked = new Set(keys.map(keyIdOf));
    return runSteps(
      statements,
      grantSteps(request, (on) => locked.has(keyIdOf(on))),
    );
  });
}
