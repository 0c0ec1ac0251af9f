/** How whole records of each kind are read from the collections, and written into them. */
import type { Collection, WithId } from 'mongodb';
import type {
  ArchivedDefinition,
  ArchivedInstance,
  ArchivedRecords,
  RecordKind,
} from '../../archive.js';
import { BULK_CHUNK } from '../../records/bulk-jobs.js';
import { bulkJobDocumentOf, bulkJobOf } from '../bulk-jobs.js';
import type { Collections } from '../collections.js';
import { stepScriptOf } from '../definitions.js';
import type { BulkIdsDocument, Provenance, VersionDocument } from '../documents.js';
import { subscriptionOf } from '../events.js';
import { nodeDocumentOf, nodeOf } from '../housekeeping.js';
import { inputIdOf } from '../inputs.js';
import { joinedStartDocumentOf, joinedStartOf } from '../instance-documents.js';
import {
  deliveryDocumentOf,
  deliveryOf,
  notificationDocumentOf,
  notificationOf,
} from '../notifications.js';
import { resourceDocumentOf, resourceOf } from '../resources.js';
import { historyDocumentOf, subscriptionDocumentOf } from '../side-records.js';
import { triggerDocumentOf, triggerOf } from '../triggers.js';
import * as records from './records.js';
import * as slots from './slot-access.js';

interface RecordAccess<Item> {
  readonly count: (collections: Collections) => Promise<number>;
  readonly read: (collections: Collections) => AsyncIterable<Item>;
  readonly write: (collections: Collections, items: readonly Item[]) => Promise<void>;
}

export const RECORD_ACCESS: {
  readonly [Kind in RecordKind]: RecordAccess<ArchivedRecords[Kind]>;
} = {
  definition: {
    count: ({ definitions }) => definitions.estimatedDocumentCount(),
    read: readDefinitions,
    async write({ definitions, definitionStamps, disabled }, items) {
      for (const _id of records.disabledIdsOf(items)) {
        await disabled.updateOne({ _id }, { $set: { disabled: true } }, { upsert: true });
      }
      await insertAll(definitionStamps, items.flatMap(records.stampDocumentsOf));
      await insertAll(definitions, items.map(records.definitionDocumentOf));
    },
  },
  stepScript: documents({
    collectionOf: ({ stepScripts }) => stepScripts,
    recordOf: stepScriptOf,
    documentOf: records.stepScriptDocumentOf,
  }),
  instance: {
    count: ({ instances }) => instances.estimatedDocumentCount(),
    read: readInstances,
    async write({ inputs, instances }, items) {
      await insertAll(inputs, items.flatMap(records.longInputsOf));
      await insertAll(instances, items.map(records.archivedInstanceDocumentOf));
    },
  },
  joinedStart: documents({
    collectionOf: ({ joinedStarts }) => joinedStarts,
    recordOf: joinedStartOf,
    documentOf: joinedStartDocumentOf,
  }),
  history: documents({
    collectionOf: ({ history }) => history,
    recordOf: records.historyOf,
    documentOf: (record) => historyDocumentOf(record, records.IMPORTED),
    keep: ofKnownInstances,
  }),
  subscription: documents({
    collectionOf: ({ subscriptions }) => subscriptions,
    recordOf: subscriptionOf,
    documentOf: (record) => subscriptionDocumentOf(record, records.IMPORTED),
    keep: ofKnownInstances,
  }),
  activity: documents({
    collectionOf: ({ activities }) => activities,
    recordOf: records.archivedActivityOf,
    documentOf: records.archivedActivityDocumentOf,
    keep: ofKnownInstances,
  }),
  slot: { count: slots.countSlots, read: slots.readSlots, write: slots.writeSlots },
  slotWait: { count: slots.countWaits, read: slots.readWaits, write: slots.writeWaits },
  limitRate: {
    count: ({ limitKeys }) => limitKeys.countDocuments({ spentUntil: { $gt: 0 } }),
    read: slots.readRates,
    write: ({ limitKeys }, items) => insertAll(limitKeys, items.map(slots.rateDocumentOf)),
  },
  event: documents({
    collectionOf: ({ events }) => events,
    recordOf: records.archivedEventOf,
    documentOf: records.archivedEventDocumentOf,
  }),
  bulkJob: documents({
    collectionOf: ({ bulkJobs }) => bulkJobs,
    recordOf: bulkJobOf,
    documentOf: (record) => bulkJobDocumentOf(record, records.importedListId(record.id)),
  }),
  bulkIds: documents({
    collectionOf: ({ bulkIds }) => bulkIds,
    recordOf: records.bulkIdsOf,
    documentOf: records.importedChunkOf,
    keep: ofKnownJobs,
  }),
  notification: documents({
    collectionOf: ({ notifications }) => notifications,
    recordOf: notificationOf,
    documentOf: notificationDocumentOf,
  }),
  delivery: documents({
    collectionOf: ({ deliveries }) => deliveries,
    recordOf: deliveryOf,
    documentOf: deliveryDocumentOf,
  }),
  trigger: documents({
    collectionOf: ({ triggers }) => triggers,
    recordOf: triggerOf,
    documentOf: triggerDocumentOf,
  }),
  resource: documents({
    collectionOf: ({ resources }) => resources,
    recordOf: resourceOf,
    documentOf: resourceDocumentOf,
  }),
  node: documents({
    collectionOf: ({ nodes }) => nodes,
    recordOf: nodeOf,
    documentOf: nodeDocumentOf,
  }),
};

interface Stored {
  readonly _id: string;
}

/** Records that are one document each. */
function documents<Item, Document extends Stored>(kind: {
  readonly collectionOf: (collections: Collections) => Collection<Document>;
  readonly recordOf: (document: WithId<Document>) => Item;
  readonly documentOf: (item: Item) => Document;
  readonly keep?: (
    collections: Collections,
    found: readonly WithId<Document>[],
  ) => Promise<readonly WithId<Document>[]>;
}): RecordAccess<Item> {
  const { collectionOf, documentOf, keep, recordOf } = kind;
  return {
    count: (collections) => collectionOf(collections).estimatedDocumentCount(),
    async *read(collections) {
      for await (const found of batchesOf(collectionOf(collections))) {
        const kept = keep === undefined ? found : await keep(collections, found);
        for (const document of kept) yield recordOf(document);
      }
    },
    write: (collections, items) => insertAll(collectionOf(collections), items.map(documentOf)),
  };
}

/** The server sends at most 16 MB at once. */
async function* batchesOf<Document extends Stored>(
  collection: Collection<Document>,
): AsyncGenerator<readonly WithId<Document>[]> {
  const cursor = collection.find();
  try {
    while (await cursor.hasNext()) yield cursor.readBufferedDocuments();
  } finally {
    await cursor.close();
  }
}

async function insertAll<Document extends Stored>(
  collection: Collection<Document>,
  items: readonly Document[],
): Promise<void> {
  if (items.length === 0) return;
  // The driver's type of a new document fits every document that has an `_id`.
  const inserted = items as Parameters<Collection<Document>['insertMany']>[0];
  await collection.insertMany(inserted, { ordered: false });
}

/** A stamp counts only if it has a version. The request of any other stamp is repeated as a new one. */
async function* readDefinitions(collections: Collections): AsyncGenerator<ArchivedDefinition> {
  for await (const found of batchesOf(collections.definitions)) {
    const stampIds = found.flatMap(({ stampId }) => stampId ?? []);
    const stamps = await collections.definitionStamps.find({ _id: { $in: stampIds } }).toArray();
    const isOf = (document: VersionDocument) => (stamp: (typeof stamps)[number]) =>
      stamp._id === document.stampId &&
      stamp.name === document.name &&
      stamp.version === document.version;
    const names = found.map(({ name }) => name);
    const disabled = await collections.disabled.find({ _id: { $in: names } }).toArray();
    const disabledNames = new Set(disabled.map(({ _id }) => _id));
    for (const document of found) {
      yield {
        ...records.archivedDefinitionOf(document, stamps.find(isOf(document))),
        disabled: disabledNames.has(document.name),
      };
    }
  }
}

async function* readInstances(collections: Collections): AsyncGenerator<ArchivedInstance> {
  for await (const found of batchesOf(collections.instances)) {
    const others = found.flatMap((each) => (each.input === undefined ? [inputIdOf(each)] : []));
    const long = await collections.inputs.find({ _id: { $in: others } }).toArray();
    const inputs = new Map(long.map(({ _id, body }) => [_id, body]));
    for (const document of found) {
      yield records.archivedInstanceOf(document, document.input ?? inputs.get(inputIdOf(document)));
    }
  }
}

/** A node that died while inserting a job has left ids without a job; and collecting ids, chunks beyond the last one. */
async function ofKnownJobs(
  { bulkJobs }: Collections,
  found: readonly WithId<BulkIdsDocument>[],
): Promise<readonly WithId<BulkIdsDocument>[]> {
  const jobIds = [...new Set(found.map(({ jobId }) => jobId))];
  const projection = { listId: 1, matched: 1 };
  const jobs = await bulkJobs.find({ _id: { $in: jobIds } }, { projection }).toArray();
  const matched = new Map(jobs.map((job) => [job.listId, job.matched]));
  return found.filter(({ listId, position }) => position * BULK_CHUNK < (matched.get(listId) ?? 0));
}

/** A node that died while inserting an instance has left records of an instance that doesn't exist. */
async function ofKnownInstances<Document extends Provenance & { readonly instanceId: string }>(
  { instances }: Collections,
  found: readonly Document[],
): Promise<readonly Document[]> {
  const ids = [...new Set(found.map(({ instanceId }) => instanceId))];
  const known = await instances.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
  const knownIds = new Set(known.map(({ _id }) => _id));
  return found.filter(({ instanceId }) => knownIds.has(instanceId));
}
