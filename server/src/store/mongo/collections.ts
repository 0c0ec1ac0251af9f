/**
 * The collections and indexes of the database; documents.ts has their documents.
 *
 * They only use features of every server that speaks MongoDB's protocol: string `_id`s and plain indexes. There is no
 * unique index except `_id`, and no TTL index; a partial index is replaced by a full one if the server doesn't support
 * it.
 */
import { MongoServerError, type Collection, type Db } from 'mongodb';
import type {
  VersionDocument,
  StampDocument,
  InstanceDocument,
  InputDocument,
  JoinedStartDocument,
  ReferenceClaimDocument,
  DisabledDocument,
  HistoryDocument,
  SubscriptionDocument,
  ActivityDocument,
  EventDocument,
  BulkJobDocument,
  BulkIdsDocument,
  DeliveryDocument,
  NotificationDocument,
  TriggerDocument,
  ResourceDocument,
  NodeDocument,
  ProbeDocument,
  MarkerDocument,
  SlotStartDocument,
} from './documents.js';
import { KEYED } from './fairness-fields.js';
import type { LimitKeyDocument, SlotWaitDocument } from './slot-documents.js';
import type { TurnsDocument } from './turn-documents.js';

export interface Collections {
  readonly definitions: Collection<VersionDocument>;
  readonly definitionStamps: Collection<StampDocument>;
  readonly stepScripts: Collection<VersionDocument>;
  readonly instances: Collection<InstanceDocument>;
  readonly inputs: Collection<InputDocument>;
  readonly joinedStarts: Collection<JoinedStartDocument>;
  readonly referenceClaims: Collection<ReferenceClaimDocument>;
  readonly limitKeys: Collection<LimitKeyDocument>;
  readonly slotStarts: Collection<SlotStartDocument>;
  readonly slotWaits: Collection<SlotWaitDocument>;
  readonly turns: Collection<TurnsDocument>;
  /** Definitions that are disabled. */
  readonly disabled: Collection<DisabledDocument>;
  readonly history: Collection<HistoryDocument>;
  readonly subscriptions: Collection<SubscriptionDocument>;
  readonly activities: Collection<ActivityDocument>;
  readonly events: Collection<EventDocument>;
  readonly bulkJobs: Collection<BulkJobDocument>;
  readonly bulkIds: Collection<BulkIdsDocument>;
  readonly notifications: Collection<NotificationDocument>;
  readonly deliveries: Collection<DeliveryDocument>;
  readonly triggers: Collection<TriggerDocument>;
  readonly resources: Collection<ResourceDocument>;
  readonly nodes: Collection<NodeDocument>;
  readonly probes: Collection<ProbeDocument>;
  readonly markers: Collection<MarkerDocument>;
}

export function collectionsOf(db: Db): Collections {
  return {
    definitions: db.collection('definitions'),
    definitionStamps: db.collection('definitionStamps'),
    stepScripts: db.collection('stepScripts'),
    instances: db.collection('instances'),
    inputs: db.collection('inputs'),
    joinedStarts: db.collection('joinedStarts'),
    referenceClaims: db.collection('referenceClaims'),
    limitKeys: db.collection('limitKeys'),
    slotStarts: db.collection('slotStarts'),
    slotWaits: db.collection('slotWaits'),
    turns: db.collection('turns'),
    disabled: db.collection('disabled'),
    history: db.collection('history'),
    subscriptions: db.collection('subscriptions'),
    activities: db.collection('activities'),
    events: db.collection('events'),
    bulkJobs: db.collection('bulkJobs'),
    bulkIds: db.collection('bulkIds'),
    notifications: db.collection('notifications'),
    deliveries: db.collection('deliveries'),
    triggers: db.collection('triggers'),
    resources: db.collection('resources'),
    nodes: db.collection('nodes'),
    probes: db.collection('probes'),
    markers: db.collection('markers'),
  };
}

type IndexKey = Readonly<Record<string, 1 | -1>>;

/** Every read of the contract is served by one of these indexes or by `_id` (rule S7). */
const INDEXES: Readonly<Partial<Record<keyof Collections, readonly IndexKey[]>>> = {
  definitions: [
    { name: 1, version: -1 },
    { version: 1, name: 1 },
  ],
  stepScripts: [
    { name: 1, version: -1 },
    { version: 1, name: 1 },
  ],
  instances: [
    { wakeAt: 1, _id: 1 },
    { owner: 1, openChangedAt: 1, _id: 1 },
    { startTime: -1, _id: -1 },
    { status: 1, startTime: -1, _id: -1 },
    { definitionId: 1, startTime: -1, _id: -1 },
    { definitionId: 1, status: 1, startTime: -1, _id: -1 },
    { definitionId: 1, version: 1, startTime: -1, _id: -1 },
    { reference: 1, startTime: -1, _id: -1 },
    { outcome: 1, startTime: -1, _id: -1 },
    // The index contains instances without a parent under null.
    { parentId: 1, startTime: -1, _id: -1 },
    { endTime: 1, _id: 1 },
    { retentionMs: 1, endTime: 1, _id: 1 },
  ],
  joinedStarts: [{ instanceId: 1 }, { joinedAt: 1 }],
  referenceClaims: [{ at: 1 }],
  limitKeys: [{ at: 1 }],
  slotStarts: [{ at: 1 }],
  turns: [{ at: 1 }],
  slotWaits: [
    { on: 1, state: 1, priority: 1, since: 1, execution: 1 },
    { instanceId: 1 },
    { execution: 1 },
  ],
  history: [{ instanceId: 1, sequence: 1 }],
  subscriptions: [{ nameKey: 1, _id: 1 }, { instanceId: 1 }],
  activities: [
    { name: 1, done: 1, priority: 1, availableAt: 1, _id: 1 },
    // By this a claim finds the first item of each fairness key, and of those without one.
    { name: 1, done: 1, priority: 1, fairnessKey: 1, availableAt: 1, _id: 1 },
    { done: 1, settled: 1, doneAt: 1, _id: 1 },
    { instanceId: 1 },
  ],
  events: [
    { nameKey: 1, publishedAt: 1, _id: 1 },
    { delivered: 1, publishedAt: 1, _id: 1 },
  ],
  bulkJobs: [
    { startTime: -1, _id: -1 },
    { endTime: 1, _id: 1 },
  ],
  triggers: [
    { definitionId: 1, _id: 1 },
    { dueAt: 1, _id: 1 },
    { eventHash: 1, _id: 1 },
  ],
  resources: [{ kind: 1, name: 1 }, { expiresAt: 1 }],
  bulkIds: [{ listId: 1 }, { position: 1, at: 1 }],
  deliveries: [
    { notification: 1, state: 1, dueAt: 1, _id: 1 },
    { notification: 1, createdAt: -1, _id: -1 },
    { notification: 1, state: 1, createdAt: -1, _id: -1 },
    { endedAt: 1, _id: 1 },
  ],
};

/** Indexes of the few documents that have the field, by the field and `_id`. */
const PARTIAL_INDEXES = ['errorAt', 'openChangedAt', 'underWay'] as const;

/**
 * Partial on `failureKey`. Counting failures reads nothing else, unless it has to check other conditions. Databases of earlier
 * versions keep their index without the last two fields: nodes of those versions name it in their queries.
 */
export const FAILURES_INDEX: IndexKey = {
  errorAt: 1,
  _id: 1,
  failureKey: 1,
  status: 1,
  failingSince: 1,
  failingErrorAt: 1,
};

export async function ensureIndexes(collections: Collections): Promise<void> {
  // Object.entries loses the type of the keys, which are names of collections.
  const wanted = Object.entries(INDEXES) as [keyof Collections, readonly IndexKey[]][];
  for (const [name, keys] of wanted) {
    await collections[name].createIndexes(keys.map((key) => ({ key: { ...key } })));
  }
  for (const field of PARTIAL_INDEXES) {
    await ensurePartialIndex(collections.instances, field, { [field]: 1, _id: 1 });
  }
  for (const field of ['tagTerms', 'fieldTerms']) {
    await ensurePartialIndex(collections.instances, field, { [field]: 1, startTime: -1, _id: -1 });
  }
  const ofWindow = { definitionId: 1, debounceKey: 1, _id: 1 } as const;
  await ensurePartialIndex(collections.instances, 'debounceKey', ofWindow);
  const ofFailure = { failureKey: 1, startTime: -1, _id: -1 } as const;
  await ensurePartialIndex(collections.instances, 'failureKey', ofFailure);
  await ensurePartialIndex(collections.instances, 'failureKey', FAILURES_INDEX);
  await ensurePartialIndex(collections.instances, 'rootId', { rootId: 1, status: 1 });
  await ensurePartialIndex(collections.instances, 'openChangedAt', {
    reference: 1,
    definitionId: 1,
    startTime: -1,
    _id: -1,
  });
  await ensurePartialIndex(collections.instances, 'countsFrom', {
    reference: 1,
    definitionId: 1,
    countsFrom: -1,
    _id: -1,
  });
  await ensurePartialIndex(collections.instances, 'openChangedAt', {
    definitionId: 1,
    concurrencyKey: 1,
    place: 1,
    queued: 1,
    priority: 1,
    countsFrom: 1,
    _id: 1,
  });
  await ensurePartialIndex(collections.instances, 'queued', { queued: 1, startTime: -1, _id: -1 });
  await ensurePartialIndex(
    collections.instances,
    'reference',
    { definitionId: 1, reference: 1, startTime: -1, _id: -1 },
    // Every text; instances without a reference have null.
    { $gte: '' },
  );
  await ensurePartialIndex(collections.instances, 'slots', { 'slots.on': 1 });
  await ensurePartialIndex(collections.activities, 'slots', { 'slots.on': 1 });
  await ensurePartialIndex(collections.activities, 'slotOn', {
    slotOn: 1,
    slotState: 1,
    name: 1,
    priority: 1,
    createdAt: 1,
    _id: 1,
  });
  await ensureFairnessIndexes(collections);
  await ensurePartialIndex(collections.bulkJobs, 'runningSince', { runningSince: 1, _id: 1 });
  await ensurePartialIndex(collections.referenceClaims, 'starting', { at: 1, _id: 1 });
}

/** Of the few that have a fairness key, by which a grant finds the first ones of a long line. */
async function ensureFairnessIndexes(collections: Collections): Promise<void> {
  await ensurePartialIndex(
    collections.activities,
    'fairnessKey',
    { slotOn: 1, slotState: 1, name: 1, fairnessKey: 1, priority: 1, createdAt: 1, _id: 1 },
    KEYED,
  );
  await ensurePartialIndex(
    collections.slotWaits,
    'fairnessKey',
    { on: 1, state: 1, fairnessKey: 1, priority: 1, since: 1, execution: 1 },
    KEYED,
  );
  await ensurePartialIndex(
    collections.instances,
    'fairnessKey',
    {
      definitionId: 1,
      concurrencyKey: 1,
      place: 1,
      fairnessKey: 1,
      priority: 1,
      countsFrom: 1,
      _id: 1,
    },
    KEYED,
  );
}

async function ensurePartialIndex<Item extends { readonly _id: string }>(
  collection: Collection<Item>,
  field: string,
  key: IndexKey,
  condition: Readonly<Record<string, unknown>> = { $exists: true },
): Promise<void> {
  const partialFilterExpression = { [field]: condition };
  try {
    await collection.createIndexes([{ key: { ...key }, partialFilterExpression }]);
  } catch (error) {
    // If the server rejects a partial index for any reason, a full one finds the same and costs slightly more to
    // maintain.
    if (!(error instanceof MongoServerError)) throw error;
    await collection.createIndexes([{ key: { ...key } }]);
  }
}
