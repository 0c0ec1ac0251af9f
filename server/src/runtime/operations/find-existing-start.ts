/** Finds the existing instance for a start, without starting one. */
import { startSession } from '../../engine/flow/lifecycle.js';
import { AppError } from '../../base/errors.js';
import type { ConflictRule, InsertInstance } from '../../store/records/instances.js';
import type { Store } from '../../store/store.js';
import type { StartResult } from '../instances/first-insertion.js';
import { newRecord, type NewInstance } from '../instance-state/new-instance.js';
import { noSideRecords } from '../instance-state/unsaved-changes.js';

export type Inserted = Exclude<StartResult, { readonly outcome: 'free' | 'more' }>;

/** The result of an insert that finds an instance; null: it would insert one. */
export async function findExistingStart(
  store: Pick<Store, 'insertInstance'>,
  start: NewInstance,
  {
    conflict,
    window,
  }: Pick<InsertInstance, 'window'> & { readonly conflict?: ConflictRule | undefined },
): Promise<Inserted | null> {
  const { instance } = startSession(start.definition, start, start.startTime);
  const place = { owner: null, now: start.startTime, wakeAt: null, state: '' };
  const record = { ...newRecord(start, instance, place), rootId: start.id };
  // With no room for descendants, the instance is never inserted.
  const result = await store.insertInstance({
    record,
    side: noSideRecords(),
    openDescendantsMax: 0,
    ...(conflict !== undefined && { conflict }),
    ...(window !== undefined && { window }),
  });
  if (result.outcome === 'more' || result.outcome === 'free' || result.outcome === 'no-slots')
    throw new AppError('internal', 'A start that inserts nothing terminates and takes nothing');
  return result.outcome === 'full' ? null : result;
}
