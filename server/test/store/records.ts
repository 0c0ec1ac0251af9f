/** Records for store tests: complete ones, of which a test sets only the relevant members. */
import type {
  ActivityClaim,
  ActivityRecord,
  NewActivityRecord,
} from '../../src/store/records/activities.js';
import type { BulkJobRecord } from '../../src/store/records/bulk-jobs.js';
import type { EventDelivery, EventRecord } from '../../src/store/records/events.js';
import type {
  InstanceCommit,
  InstanceRecord,
  SideRecords,
} from '../../src/store/records/instances.js';
import type { DeliveryRecord } from '../../src/store/records/notifications.js';
import { FAR_FUTURE_MS, type Store } from '../../src/store/store.js';

export const NO_SIDE: SideRecords = { history: [], subscriptions: [], activities: [] };

export function instanceOf(id: string, changes: Partial<InstanceRecord> = {}): InstanceRecord {
  return {
    id,
    definitionId: 'order',
    version: 1,
    reference: null,
    tags: {},
    priority: 3,
    fairness: null,
    queued: false,
    countsFrom: null,
    debounceKey: null,
    concurrencyKey: null,
    place: null,
    index: {},
    status: 'Runnable',
    startTime: 1000,
    endTime: null,
    outcome: null,
    parentId: null,
    rootId: null,
    lastChangeAt: 1000,
    errorAt: null,
    failingSince: null,
    failure: null,
    wakeAt: null,
    owner: null,
    epoch: 1,
    inSeq: 0,
    inbox: [],
    revision: 1,
    underWay: false,
    crashes: 0,
    state: '{}',
    schemaVersion: 1,
    requestHash: null,
    restartOf: null,
    startedBy: null,
    restartedAs: null,
    retentionMs: null,
    ...changes,
  };
}

/** A commit that matches the current record. */
export function commitOf(
  record: Pick<InstanceRecord, 'id' | 'epoch' | 'inSeq' | 'revision'>,
  changes: Partial<InstanceCommit> = {},
): InstanceCommit {
  return {
    id: record.id,
    epoch: record.epoch,
    inSeq: record.inSeq,
    revision: record.revision,
    status: 'Runnable',
    endTime: null,
    outcome: null,
    lastChangeAt: 2000,
    errorAt: null,
    failingSince: null,
    failure: null,
    wakeAt: null,
    underWay: false,
    state: '{"committed":true}',
    schemaVersion: 1,
    side: NO_SIDE,
    removeSubscriptions: [],
    removeActivities: [],
    settleActivities: [],
    ...changes,
  };
}

export function activityOf(
  id: string,
  instanceId: string,
  changes: Partial<NewActivityRecord> = {},
): NewActivityRecord {
  const own = {
    id,
    instanceId,
    name: 'ship',
    parameters: '{}',
    priority: 3,
    createdAt: 1000,
  } as const;
  return { ...own, ...changes };
}

export function claimBy(worker: string, leaseExpiresAt: number = FAR_FUTURE_MS): ActivityClaim {
  return { tokenHash: `token-${worker}`, workerId: worker, leaseExpiresAt };
}

export function deliveryOf(
  id: string,
  takenBy: readonly string[],
  changes: Partial<EventDelivery> = {},
): EventDelivery {
  return { id, deliveredTo: takenBy.length, takenBy, isConfirmed: true, ...changes };
}

export function eventOf(id: string, changes: Partial<EventRecord> = {}): EventRecord {
  return {
    id,
    nameKey: 'paid/7',
    name: 'paid',
    key: '7',
    data: 'null',
    publishedAt: 1000,
    deliveredTo: null,
    requestHash: null,
    ...changes,
  };
}

export function notificationDeliveryOf(
  id: string,
  changes: Partial<DeliveryRecord> = {},
): DeliveryRecord {
  return {
    id,
    notification: 'n',
    workflowId: 'w',
    type: 'workflow.completed',
    createdAt: 1000,
    state: 'waiting',
    attempts: 0,
    dueAt: 1000,
    since: 1000,
    endedAt: null,
    answer: null,
    body: '{}',
    ...changes,
  };
}

export function bulkJobOf(id: string, changes: Partial<BulkJobRecord> = {}): BulkJobRecord {
  return {
    id,
    requestHash: null,
    about: '{}',
    task: '{}',
    state: 'Running',
    startTime: 1000,
    endTime: null,
    owner: null,
    epoch: 1,
    matched: 0,
    isCollected: false,
    collectedTo: null,
    done: 0,
    skipped: 0,
    failed: 0,
    failures: '[]',
    ...changes,
  };
}

/** A claim of an item of any length. */
export async function claimOf(
  store: Pick<Store, 'claimActivity'>,
  request: Omit<Parameters<Store['claimActivity']>[0], 'lengthMax'>,
): Promise<ActivityRecord | null> {
  return (await store.claimActivity(request)) as ActivityRecord | null;
}
