/**
 * Side records can't change atomically with their instance. They are inserted before the instance is written (rule
 * S4), so a pass that loses its commit leaves some behind.
 *
 * Invariants:
 *  SR1 Records that a lost commit inserted are withdrawn, unless a worker has claimed an activity in the meantime.
 *  SR2 If the process died in between, the pass runs again and may give the same id to something else. So a commit replaces
 *      what an earlier pass left under its ids: records with a lower epoch, or with the same epoch and an inSeq that isn't
 *      higher. A node that lost the instance has a lower epoch and replaces nothing.
 *  SR3 An activity with the same content is left unchanged: a worker may already be working on it.
 *  SR4 An existing record may be withdrawn at any moment by the commit that lost. So a replacement is one write that
 *      inserts if the record no longer exists: a record that was found and then withdrawn must not end up missing.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  MongoBulkWriteError,
  type AnyBulkWriteOperation,
  type BulkWriteResult,
  type Collection,
} from 'mongodb';
import type { NewActivityRecord } from '../records/activities.js';
import type { HistoryRecord, InstanceCommit, SideRecords } from '../records/instances.js';
import type { SubscriptionRecord } from '../records/events.js';
import { encodeText } from '../text-codec.js';
import type {
  ActivityDocument,
  HistoryDocument,
  Provenance,
  SubscriptionDocument,
} from './documents.js';
import { fairnessFieldsOf } from './fairness-fields.js';
import type { MongoContext } from './mongo-context.js';
import type { GroupedInserts } from './grouped-inserts.js';
import { throwUnlessDuplicates } from './mongo-errors.js';
import { packText } from './packed-text.js';
import { releasedSlots } from './item-slots.js';
import { needDocumentOf } from './slot-names.js';

export interface Attempt extends Provenance {
  /** False when an instance is inserted: of several starts with the same ids, none replaces the records of another. */
  readonly replaces: boolean;
}

/** The records that were inserted and didn't exist before, by `_id`. */
export interface InsertedSideRecords {
  readonly attemptId: string;
  readonly history: readonly string[];
  readonly subscriptions: readonly string[];
  readonly activities: readonly string[];
}

const DIGITS = 16;
const NO_FIELDS: ReadonlyMap<string, Partial<ActivityDocument>> = new Map();
/** Those that an item without needs doesn't have. */
const SLOT_FIELDS = ['needs', 'slots', 'slotOn', 'slotState', 'slotTry', 'slotsLost'] as const;

export function attemptOf({ epoch, inSeq }: { epoch: number; inSeq: number }): Provenance {
  const order = [epoch, inSeq].map((number) => String(number).padStart(DIGITS, '0')).join('/');
  return { order, attemptId: randomUUID() };
}

export async function insertSideRecords(
  context: MongoContext,
  side: SideRecords,
  attempt: Attempt,
  itemFields: ReadonlyMap<string, Partial<ActivityDocument>> = NO_FIELDS,
): Promise<InsertedSideRecords> {
  const { replaces, ...provenance } = attempt;
  const replaceWith = <Item extends Provenance & { readonly _id: string }>(item: Item) =>
    replaces ? [replaceEarlier(item)] : [];
  const { candidates, groupedWrites } = context;
  for (const { fairness, name } of side.activities) {
    if (fairness !== undefined) candidates.noteKeyed(encodeText(name));
  }
  const [history, subscriptions, activities] = await Promise.all([
    insertOrElse(context.history, groupedWrites.history, {
      documents: side.history.map((record) => historyDocumentOf(record, provenance)),
      otherwise: replaceWith,
    }),
    insertOrElse(context.subscriptions, groupedWrites.subscriptions, {
      documents: side.subscriptions.map((record) => subscriptionDocumentOf(record, provenance)),
      otherwise: replaceWith,
    }),
    insertOrElse(context.activities, groupedWrites.activities, {
      documents: side.activities.map((record) => ({
        ...activityDocumentOf(record, provenance),
        ...itemFields.get(encodeText(record.id)),
      })),
      otherwise: (item) => [...(replaces ? replaceOtherContent(item) : []), ...claimWaiting(item)],
    }),
  ]);
  return { attemptId: attempt.attemptId, history, subscriptions, activities };
}

/** Undoes the insert for a commit that lost (SR1). */
export async function takeBack(
  context: MongoContext,
  inserted: InsertedSideRecords,
  side: SideRecords,
): Promise<void> {
  const { attemptId } = inserted;
  const mine = (ids: readonly string[]) => ({ _id: { $in: [...ids] }, attemptId });
  const tokens = side.activities.flatMap(({ claim }) =>
    claim === undefined ? [] : [encodeText(claim.tokenHash)],
  );
  await Promise.all([
    inserted.history.length > 0 && context.history.deleteMany(mine(inserted.history)),
    inserted.subscriptions.length > 0 &&
      context.subscriptions.deleteMany(mine(inserted.subscriptions)),
    inserted.activities.length > 0 &&
      context.activities.deleteMany({
        ...mine(inserted.activities),
        done: false,
        $or: [{ attempt: 0 }, { tokenHash: { $in: tokens } }],
      }),
  ]);
  await takeBackClaims(context, side.activities);
}

/** Releases items that were inserted as claimed: the polls that they were for won't get them. */
export async function takeBackClaims(
  { activities }: MongoContext,
  items: readonly NewActivityRecord[],
): Promise<void> {
  const releases = items.flatMap((item) => releaseClaim(item));
  if (releases.length > 0) await activities.bulkWrite(releases, { ordered: false });
}

/** What a commit no longer needs. Of a withdrawn item, a mark is left for the holder of its token. */
export async function removeActivities(
  { activities }: MongoContext,
  { lastChangeAt, removeActivities: ids }: InstanceCommit,
): Promise<void> {
  if (ids.length === 0) return;
  const open = { _id: { $in: ids.map(encodeText) }, done: false };
  const isLeft = { ...open, settled: true, tokenHash: { $ne: null } };
  await activities.bulkWrite([
    {
      updateMany: {
        filter: isLeft,
        update: { $set: { done: true, doneAt: lastChangeAt }, $unset: { slots: '' } },
      },
    },
    { deleteMany: { filter: open } },
  ]);
}

/** Inserts all; for those that already exist, runs other writes. Returns the ids that were inserted. */
async function insertOrElse<Item extends { readonly _id: string }>(
  collection: Pick<Collection<Item>, 'bulkWrite'>,
  inserts: GroupedInserts<Item>,
  side: {
    readonly documents: readonly Item[];
    readonly otherwise: (document: Item) => readonly AnyBulkWriteOperation<Item>[];
  },
): Promise<readonly string[]> {
  const { documents, otherwise } = side;
  if (documents.length === 0) return [];
  const duplicates = await inserts.insert(documents);
  if (duplicates.size === 0) return documents.map(({ _id }) => _id);
  const writes = documents.flatMap((item, index) => (duplicates.has(index) ? otherwise(item) : []));
  const inserted = documents.flatMap(({ _id }, index) => (duplicates.has(index) ? [] : [_id]));
  return writes.length === 0 ? inserted : [...inserted, ...(await replaceAll(collection, writes))];
}

/**
 * Replaces in order. Returns the ids of records that no longer existed and were inserted. A duplicate is a record of a
 * later pass; this pass is then going to lose its commit anyway.
 */
async function replaceAll<Item extends { readonly _id: string }>(
  collection: Pick<Collection<Item>, 'bulkWrite'>,
  writes: readonly AnyBulkWriteOperation<Item>[],
): Promise<readonly string[]> {
  try {
    return idsOf(await collection.bulkWrite(writes));
  } catch (error) {
    throwUnlessDuplicates(error);
    return error instanceof MongoBulkWriteError ? idsOf(error) : [];
  }
}

function idsOf({ upsertedIds }: Pick<BulkWriteResult, 'upsertedIds'>): readonly string[] {
  return Object.values(upsertedIds).map(String);
}

function replaceEarlier<Item extends Provenance & { readonly _id: string }>(
  item: Item,
): AnyBulkWriteOperation<Item> {
  const { _id, ...fields } = item;
  return upsert<Item>({ _id, order: { $lte: item.order } }, { $set: fields });
}

function replaceOtherContent(
  item: ActivityDocument,
): readonly AnyBulkWriteOperation<ActivityDocument>[] {
  const { _id, order, attemptId, contentHash, ...rest } = item;
  return [
    update(
      { _id, order: { $lte: order }, contentHash: { $ne: contentHash } },
      { $set: { ...rest, order, attemptId, contentHash }, ...lackingSlotFields(item) },
    ),
    // From now on, a lost commit of the earlier pass doesn't withdraw it.
    upsert(
      { _id, order: { $lte: order }, contentHash },
      { $set: { order, attemptId }, $setOnInsert: rest },
    ),
  ];
}

function lackingSlotFields(item: ActivityDocument): object {
  const lacking = SLOT_FIELDS.filter((field) => !(field in item)).map((field) => [field, '']);
  return lacking.length === 0 ? {} : { $unset: Object.fromEntries(lacking) as object };
}

/** For an item that is inserted as claimed: the claim also applies to an existing item without a holder. */
function claimWaiting(item: ActivityDocument): readonly AnyBulkWriteOperation<ActivityDocument>[] {
  const { _id, contentHash, availableAt, slots, slotTry, tokenHash, workerId } = item;
  if (tokenHash === null) return [];
  const claim = { availableAt, tokenHash, workerId, deferred: false };
  const held = slots === undefined ? {} : { slots, slotTry };
  return [
    update(
      { _id, contentHash, done: false, settled: false, tokenHash: null },
      {
        $set: { ...claim, ...held },
        $inc: { attempt: 1 },
        ...(slots !== undefined && { $unset: { slotOn: '', slotState: '' } }),
      },
    ),
  ];
}

function releaseClaim({
  claim,
  createdAt,
  id,
  needs = [],
}: NewActivityRecord): readonly AnyBulkWriteOperation<ActivityDocument>[] {
  if (claim === undefined) return [];
  const { set, ...rest } = releasedSlots(
    needs.length === 0 ? {} : { needs: needs.map(needDocumentOf) },
  );
  return [
    update<ActivityDocument>(
      { _id: encodeText(id), tokenHash: encodeText(claim.tokenHash), done: false },
      { $set: { availableAt: createdAt, tokenHash: null, workerId: null, ...set }, ...rest },
    ),
  ];
}

function update<Item extends { readonly _id: string }>(
  filter: object,
  change: object,
): AnyBulkWriteOperation<Item> {
  return { updateOne: { filter, update: change } };
}

/** If the record doesn't exist (or no longer does), the update inserts it; its `_id` is in the filter. */
function upsert<Item extends { readonly _id: string }>(
  filter: object,
  change: object,
): AnyBulkWriteOperation<Item> {
  return { updateOne: { filter, update: change, upsert: true } };
}

export function historyDocumentOf(record: HistoryRecord, provenance: Provenance): HistoryDocument {
  const instanceId = encodeText(record.instanceId);
  const { sequence, body } = record;
  return {
    _id: `${instanceId}:${sequence}`,
    instanceId,
    sequence,
    body: packText(body),
    ...provenance,
  };
}

export function subscriptionDocumentOf(
  record: SubscriptionRecord,
  provenance: Provenance,
): SubscriptionDocument {
  return {
    _id: encodeText(record.id),
    instanceId: encodeText(record.instanceId),
    nameKey: encodeText(record.nameKey),
    effectiveAt: record.effectiveAt,
    ...provenance,
  };
}

export function contentHashOf({ name, parameters }: NewActivityRecord): string {
  return createHash('sha256')
    .update(JSON.stringify([name, parameters]))
    .digest('base64');
}

export function activityDocumentOf(
  record: NewActivityRecord,
  provenance: Provenance,
): ActivityDocument {
  const { claim, fairness = null, name, needs = [], parameters, priority, createdAt } = record;
  return {
    _id: encodeText(record.id),
    instanceId: encodeText(record.instanceId),
    name: encodeText(name),
    priority,
    ...fairnessFieldsOf(fairness),
    parameters: packText(parameters),
    parametersLength: parameters.length,
    contentHash: contentHashOf(record),
    createdAt,
    availableAt: claim?.leaseExpiresAt ?? createdAt,
    deferred: false,
    attempt: claim === undefined ? 0 : 1,
    tokenHash: claim === undefined ? null : encodeText(claim.tokenHash),
    workerId: claim === undefined ? null : encodeText(claim.workerId),
    done: false,
    doneAt: null,
    settled: false,
    succeeded: null,
    resultHash: null,
    resultData: null,
    ...(needs.length > 0 && { needs: needs.map(needDocumentOf), slotTry: randomUUID() }),
    ...provenance,
  };
}
