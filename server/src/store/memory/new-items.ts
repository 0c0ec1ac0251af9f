/** Items as they are added, and given to a worker. */
import type { ActivityClaim, ActivityRecord, NewActivityRecord } from '../records/activities.js';
import { itemsQueueOf, type Line } from '../records/turns.js';
import type { MemoryData, StoredActivity } from './memory-data.js';
import { putTurn } from './turns.js';

/** An existing item with the same content keeps its position and its holder, and null is returned. */
export function putItem(data: MemoryData, item: NewActivityRecord): ActivityRecord | null {
  const known = data.activities.get(item.id);
  const sameContent =
    known?.record.name === item.name && known.record.parameters === item.parameters;
  if (known === undefined || !sameContent) {
    const fresh = freshActivity(item);
    data.activities.set(item.id, fresh);
    putTurn(data, lineOf(item), { ...item, since: item.createdAt });
    return fresh.record;
  }
  if (item.claim !== undefined && isWaiting(known)) {
    data.activities.set(item.id, held(known, item.claim));
  }
  return null;
}

/** In which the item takes turns. */
export function lineOf({ name, priority }: Pick<ActivityRecord, 'name' | 'priority'>): Line {
  return { queue: itemsQueueOf(name), priority };
}

function freshActivity(item: NewActivityRecord): StoredActivity {
  const { claim, createdAt, fairness, id, instanceId, name, needs, parameters, priority } = item;
  const record: ActivityRecord = {
    id,
    instanceId,
    name,
    parameters,
    priority,
    ...(fairness !== undefined && { fairness }),
    ...(needs !== undefined && needs.length > 0 && { needs }),
    createdAt,
    availableAt: createdAt,
    attempt: 0,
    tokenHash: null,
    workerId: null,
    done: false,
    withdrawn: false,
  };
  const waiting = { record, deferred: false, result: null, doneAt: null, settled: false };
  return claim === undefined ? waiting : held(waiting, claim);
}

export function held(item: StoredActivity, claim: ActivityClaim): StoredActivity {
  const record: ActivityRecord = {
    ...item.record,
    availableAt: claim.leaseExpiresAt,
    attempt: item.record.attempt + 1,
    tokenHash: claim.tokenHash,
    workerId: claim.workerId,
  };
  return { ...item, record, deferred: false };
}

function isWaiting(item: StoredActivity): boolean {
  return !item.record.done && !item.record.withdrawn && item.record.tokenHash === null;
}
