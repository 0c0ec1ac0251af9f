/** A database of MongoDB as an archive. While an import is unfinished, a marker keeps servers from starting on it. */
import { MongoClient, type Document } from 'mongodb';
import {
  inBatches,
  type ArchiveImport,
  type ArchiveReader,
  type StoreArchive,
} from '../../archive.js';
import { addMissingFields, hasAllFields } from '../backfill.js';
import { collectionsOf, ensureIndexes, type Collections } from '../collections.js';
import { nodeOf } from '../housekeeping.js';
import { hasUnfinishedImport, markUnfinishedImport, unmarkImport } from '../unfinished-import.js';
import { RECORD_ACCESS } from './record-access.js';

const SERVER_SELECTION_TIMEOUT_MS = 10_000;

/** All collections of a store except the nodes and those about the database itself. */
const RECORD_COLLECTIONS = [
  'definitions',
  'definitionStamps',
  'stepScripts',
  'disabled',
  'instances',
  'inputs',
  'joinedStarts',
  'referenceClaims',
  'history',
  'subscriptions',
  'activities',
  'events',
  'bulkJobs',
  'bulkIds',
  'notifications',
  'deliveries',
  'triggers',
  'resources',
] as const;

/** @throws Error if the database can't be reached */
export async function openMongoArchive(options: {
  readonly url: string;
  readonly databaseName: string;
}): Promise<StoreArchive> {
  const { url, databaseName } = options;
  const client = new MongoClient(url, {
    appName: 'stepwright-migrate-store',
    writeConcern: { w: 'majority' },
    serverSelectionTimeoutMS: SERVER_SELECTION_TIMEOUT_MS,
  });
  await client.connect();
  const collections = collectionsOf(client.db(databaseName));
  return {
    place: `the database ${databaseName} of MongoDB at ${client.options.hosts.join(',')}`,
    ...readerOf(collections),
    listNodes: async () => (await collections.nodes.find().toArray()).map(nodeOf),
    problemAsSource: () => problemAsSource(collections),
    changeMark: () => changeMark(collections),
    isEmpty: () => isEmpty(collections),
    beginImport: () => beginImport(collections),
    close: () => client.close(),
  };
}

function readerOf(collections: Collections): ArchiveReader {
  return {
    count: (kind) => RECORD_ACCESS[kind].count(collections),
    read: (kind) => inBatches(kind, RECORD_ACCESS[kind].read(collections)),
  };
}

async function problemAsSource(collections: Collections): Promise<string | null> {
  if (await hasUnfinishedImport(collections)) return 'it holds an unfinished copy itself';
  if (await hasAllFields(collections)) return null;
  return 'no server of this version has run on it; start one, and stop it when it is ready';
}

/** Numbers of which at least one changes with every change of a record, besides those of `OTHER_MARKS`. */
const CHANGING_NUMBERS: Readonly<Partial<Record<keyof Collections, readonly string[]>>> = {
  instances: ['epoch', 'inSeq', 'revision', 'crashes', 'lastChangeAt'],
  activities: ['attempt', 'availableAt', 'doneAt', 'createdAt'],
  events: ['deliveredTo', 'publishedAt'],
  referenceClaims: ['at'],
  bulkJobs: ['epoch', 'matched', 'done', 'skipped', 'failed', 'startTime', 'endTime'],
  bulkIds: ['position', 'epoch', 'at'],
  deliveries: ['attempts', 'dueAt', 'since', 'createdAt', 'endedAt'],
  triggers: ['revision', 'dueAt'],
  resources: ['revision', 'expiresAt'],
  nodes: ['beatAt'],
};
const OTHER_MARKS: Readonly<Partial<Record<keyof Collections, Document>>> = {
  instances: {
    // The list has a maximum length, after which only its newest time changes.
    actions: { $sum: { $size: { $ifNull: ['$audit', []] } } },
    actionAt: { $max: { $max: '$audit.time' } },
  },
  events: { delivered: { $sum: { $cond: ['$delivered', 1, 0] } } },
};
/** Times are added without their large part, so that the sum over millions of records is exact. */
const MODULUS = 1_000_003;

async function changeMark(collections: Collections): Promise<string> {
  const marks: unknown[] = [];
  for (const name of [...RECORD_COLLECTIONS, 'nodes'] as const) {
    const group: Document = { _id: null, count: { $sum: 1 }, ...OTHER_MARKS[name] };
    for (const field of CHANGING_NUMBERS[name] ?? []) {
      group[`${field}Sum`] = { $sum: { $mod: [`$${field}`, MODULUS] } };
      // What replaces a record may have the same numbers, but is newer.
      group[`${field}Max`] = { $max: `$${field}` };
    }
    marks.push(await collections[name].aggregate([{ $group: group }]).toArray());
  }
  return JSON.stringify(marks);
}

async function isEmpty(collections: Collections): Promise<boolean> {
  if (await hasUnfinishedImport(collections)) return true;
  for (const name of RECORD_COLLECTIONS) {
    if ((await collections[name].findOne({}, { projection: { _id: 1 } })) !== null) return false;
  }
  return true;
}

async function beginImport(collections: Collections): Promise<ArchiveImport> {
  await markUnfinishedImport(collections);
  for (const name of [...RECORD_COLLECTIONS, 'nodes', 'turns'] as const)
    await collections[name].deleteMany({});
  await ensureIndexes(collections);
  // There are no fields to add. Recording that saves servers the search.
  await addMissingFields(collections);
  return {
    ...readerOf(collections),
    write: (kind, items) => RECORD_ACCESS[kind].write(collections, items),
    finish: () => unmarkImport(collections),
  };
}
