/**
 * Versions of named documents: definitions and custom steps. The `_id` is name and version, so that a unique insert decides
 * which writer gets a version. A writer that comes second takes the next version.
 *
 * Resources and triggers keep only the newest revision of a document, which `saveRevision` compares and sets.
 */
import type { Collection } from 'mongodb';
import { StoreUnavailableError } from '../store.js';
import { encodeText } from '../text-codec.js';
import type { VersionDocument } from './documents.js';
import { isDuplicateKey } from './mongo-errors.js';

/** It may be as long as the body. */
const WITHOUT_SOURCE = { source: 0 } as const;

export type NewVersion = Omit<VersionDocument, '_id' | 'version' | 'stampId'>;

/** Gives up after other writers have taken the wanted version this many times. */
export const ATTEMPTS_MAX = 200;

export async function insertNextVersion(
  collection: Collection<VersionDocument>,
  content: NewVersion,
): Promise<VersionDocument> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const version = await nextVersion(collection, content.name);
    const document = versionDocument(content, version, null);
    if (await insertOnce(collection, document)) return document;
  }
  throw tooMuchContention(content.name);
}

export async function nextVersion(
  collection: Collection<VersionDocument>,
  name: string,
): Promise<number> {
  const latest = await collection.findOne(
    { name },
    { sort: { version: -1 }, projection: { version: 1 } },
  );
  return (latest?.version ?? 0) + 1;
}

/** Returns false if the `_id` is taken. */
export async function insertOnce<Item extends { readonly _id: string }>(
  collection: Pick<Collection<Item>, 'insertOne'>,
  document: Parameters<Collection<Item>['insertOne']>[0],
): Promise<boolean> {
  try {
    await collection.insertOne(document);
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

export function listVersions(
  collection: Collection<VersionDocument>,
  page: { readonly name: string; readonly beforeVersion: number | null; readonly limit: number },
): Promise<Omit<VersionDocument, 'body' | 'source'>[]> {
  const version = { $lt: page.beforeVersion ?? Number.MAX_SAFE_INTEGER };
  return collection
    .find({ name: encodeText(page.name), version }, { projection: { body: 0, source: 0 } })
    .sort({ version: -1 })
    .limit(page.limit)
    .toArray();
}

export function findVersion(
  collection: Collection<VersionDocument>,
  name: string,
  version: number | 'latest',
  projection: Readonly<Record<string, 0 | 1>> = WITHOUT_SOURCE,
): Promise<VersionDocument | null> {
  return version === 'latest'
    ? collection.findOne({ name }, { sort: { version: -1 }, projection })
    : collection.findOne({ _id: versionId(name, version) }, { projection });
}

/**
 * Every name has a version 1, so those versions provide the page of names; a second query finds the latest version of
 * each.
 */
export async function listLatest(
  collection: Collection<VersionDocument>,
  after: string | null,
  limit: number,
): Promise<readonly VersionDocument[]> {
  const from = after === null ? { $gte: '' } : { $gt: encodeText(after) };
  const firsts = await collection
    .find({ version: 1, name: from }, { projection: { name: 1 } })
    .sort({ name: 1 })
    .limit(limit)
    .toArray();
  if (firsts.length === 0) return [];
  const latest = await collection
    .aggregate<{ _id: string; version: number }>([
      { $match: { name: { $in: firsts.map(({ name }) => name) } } },
      { $group: { _id: '$name', version: { $max: '$version' } } },
    ])
    .toArray();
  const ids = latest.map(({ _id, version }) => versionId(_id, version));
  const found = await collection
    .find({ _id: { $in: ids } }, { projection: WITHOUT_SOURCE })
    .toArray();
  const byName = new Map(found.map((document) => [document.name, document]));
  return firsts.flatMap(({ name }) => byName.get(name) ?? []);
}

export function versionDocument(
  content: NewVersion,
  version: number,
  stampId: string | null,
): VersionDocument {
  return { _id: versionId(content.name, version), ...content, version, stampId };
}

export function versionId(name: string, version: number): string {
  return `${name}:${version}`;
}

export function tooMuchContention(name: string): StoreUnavailableError {
  return new StoreUnavailableError(`Too many concurrent writers of versions of ${name}`);
}

/** Inserts the document if `expected` is null, or replaces the one with this revision. False: another writer was faster. */
export async function saveRevision<
  Item extends { readonly _id: string; readonly revision: number },
>(collection: Collection<Item>, document: Item, expected: number | null): Promise<boolean> {
  // The driver can't derive types of filters and inserts from a parameter.
  const items = collection as unknown as Collection<{ _id: string; revision: number }>;
  if (expected === null) return insertOnce(items, document);
  const filter = { _id: document._id, revision: expected };
  return (await items.replaceOne(filter, document)).matchedCount > 0;
}
