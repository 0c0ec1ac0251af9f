/** The side records that a commit or an insert adds and removes. */
import type { InstanceCommit, SideRecords } from '../records/instances.js';
import type { LimitKey } from '../records/slots.js';
import { insertActivity, removeActivity, settleActivity } from './activities.js';
import type { MemoryData } from './memory-data.js';

/** Returns keys for which new items wait. */
export function insertSideRecords(data: MemoryData, side: SideRecords): readonly LimitKey[] {
  for (const record of side.history) {
    const { instanceId, sequence, body } = record;
    let history = data.history.get(instanceId);
    if (history === undefined) {
      history = new Map();
      data.history.set(instanceId, history);
    }
    history.set(sequence, { instanceId, sequence, body });
  }
  for (const { id, instanceId, nameKey, effectiveAt } of side.subscriptions) {
    data.subscriptions.set(id, { id, instanceId, nameKey, effectiveAt });
  }
  return side.activities.flatMap((activity) => insertActivity(data, activity) ?? []);
}

export function removeSideRecords(data: MemoryData, commit: InstanceCommit): void {
  for (const id of commit.removeSubscriptions) data.subscriptions.delete(id);
  for (const id of commit.removeActivities) removeActivity(data, id, commit.lastChangeAt);
  for (const id of commit.settleActivities) settleActivity(data, id);
}
