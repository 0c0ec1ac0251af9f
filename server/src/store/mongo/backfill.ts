/**
 * Adds fields that documents of earlier server versions lack and that lists need. Each is added once per database; a
 * marker records that it was done.
 */
import type { AnyBulkWriteOperation, FindCursor, WithId } from 'mongodb';
import type { Collections } from './collections.js';
import type { InstanceDocument } from './documents.js';
import { outcomeOf } from './instance-documents.js';

const BACKFILL_BATCH = 500;

type Change = AnyBulkWriteOperation<InstanceDocument>;

/** In this order. */
const ADDITIONS: Readonly<Record<string, (collections: Collections) => Promise<void>>> = {
  'change-times': addMissingChangeTimes,
  outcomes: addMissingOutcomes,
  parents: addMissingParents,
  roots: addMissingRoots,
};

export async function addMissingFields(collections: Collections): Promise<void> {
  for (const [name, add] of Object.entries(ADDITIONS)) await once(collections, name, add);
}

export async function hasAllFields({ markers }: Pick<Collections, 'markers'>): Promise<boolean> {
  const names = Object.keys(ADDITIONS);
  return (await markers.countDocuments({ _id: { $in: names } })) === names.length;
}

async function once(
  collections: Collections,
  name: string,
  add: (collections: Collections) => Promise<void>,
): Promise<void> {
  const marker = { _id: name };
  if ((await collections.markers.findOne(marker)) !== null) return;
  await add(collections);
  await collections.markers.updateOne(marker, { $set: { done: true } }, { upsert: true });
}

/** Open instances without `openChangedAt`. Their start is the best approximation. */
async function addMissingChangeTimes(collections: Collections): Promise<void> {
  for (const status of ['Runnable', 'Suspended'] as const) {
    const lacking = { status, openChangedAt: { $exists: false } };
    const missing = collections.instances.find(lacking, { projection: { startTime: 1 } });
    await changeEach(collections, missing, ({ _id, startTime }) => ({
      updateOne: {
        filter: { _id, ...lacking },
        update: { $set: { openChangedAt: startTime, lastChangeAt: startTime } },
      },
    }));
  }
}

async function addMissingOutcomes(collections: Collections): Promise<void> {
  for (const status of ['Complete', 'Terminated'] as const) {
    const lacking = { status, outcome: { $exists: false } };
    const projection = { status: 1, errorAt: 1, audit: 1 };
    const missing = collections.instances.find(lacking, { projection });
    await changeEach(collections, missing, (document) => {
      const outcome = outcomeOf(document);
      if (outcome === null) return null;
      return {
        updateOne: { filter: { _id: document._id, ...lacking }, update: { $set: { outcome } } },
      };
    });
  }
}

/** Earlier versions set the reference of a child to the id of its parent, and derived the id of the child from that. */
async function addMissingParents(collections: Collections): Promise<void> {
  const lacking = { parentId: { $exists: false } };
  const missing = collections.instances.find(
    { reference: { $gt: '' }, ...lacking },
    { projection: { reference: 1 } },
  );
  await changeEach(collections, missing, ({ _id, reference }) => {
    const isChild = reference !== null && (_id.startsWith(`${reference}.`) || _id.startsWith('c-'));
    if (!isChild) return null;
    return {
      updateOne: { filter: { _id, ...lacking }, update: { $set: { parentId: reference } } },
    };
  });
}

/** The topmost ancestor that is known. */
async function addMissingRoots(collections: Collections): Promise<void> {
  const lacking = { rootId: { $exists: false } };
  const missing = collections.instances.find(
    { parentId: { $gt: '' }, ...lacking },
    { projection: { parentId: 1 } },
  );
  await changeEach(collections, missing, ({ _id, parentId }) => {
    if (parentId === null || parentId === undefined) return null;
    return {
      updateOne: { filter: { _id, ...lacking }, update: { $set: { rootId: parentId } } },
    };
  });
}

async function changeEach(
  { instances }: Collections,
  documents: FindCursor<WithId<InstanceDocument>>,
  changeOf: (document: WithId<InstanceDocument>) => Change | null,
): Promise<void> {
  let batch: Change[] = [];
  for await (const document of documents.batchSize(BACKFILL_BATCH)) {
    const change = changeOf(document);
    if (change === null) continue;
    batch.push(change);
    if (batch.length < BACKFILL_BATCH) continue;
    await instances.bulkWrite(batch, { ordered: false });
    batch = [];
  }
  if (batch.length > 0) await instances.bulkWrite(batch, { ordered: false });
}
