/**
 * Definitions and custom steps: documents whose `_id` is name and version, so that a unique insert decides which writer
 * gets a version. A writer that comes second takes the next version.
 *
 * A request with an idempotency stamp first records the version that it is going to insert. Any process that finds the
 * stamp can then finish the work of a writer that died. If the version of that number has the stamp, nothing is left to
 * do. If it does not exist, it is inserted now. If it belongs to another writer, the stamp moves on by compare-and-set.
 * So a stamp gets exactly one version.
 */
import type { Collection } from 'mongodb';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { StoreUnavailableError } from '../store.js';
import type {
  DefinitionRecord,
  DefinitionVersion,
  IdempotencyStamp,
  StepScriptRecord,
  StepScriptVersion,
  StoredDefinition,
} from '../records/definitions.js';
import { originOf } from '../definition-origin.js';
import { decodeText, encodeOptional, encodeText } from '../text-codec.js';
import type { DisabledDocument, VersionDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';
import { isDuplicateKey } from './mongo-errors.js';
import { decodeOptional, packOptional, packText, unpackText } from './packed-text.js';

/** It may be as long as the body. */
const WITHOUT_SOURCE = { projection: { source: 0 } } as const;
const ONLY_SOURCE = { projection: { source: 1 } } as const;

export type NewVersion = Omit<VersionDocument, '_id' | 'version' | 'stampId'>;

/** Gives up after other writers have taken the wanted version this many times. */
const ATTEMPTS_MAX = 200;

export async function insertDefinition(
  context: MongoContext,
  [{ id, description, body, createdAt, source }, stamp]: OperationArguments<'insertDefinition'>,
): Promise<OperationResult<'insertDefinition'>> {
  const content: NewVersion = {
    name: encodeText(id),
    description: encodeOptional(description),
    body: packText(body),
    source: packOptional(source ?? null),
    createdAt,
    ...originMember(body),
  };
  if (stamp !== null) return insertStamped(context, content, stamp);
  const inserted = await insertNextVersion(context.definitions, content);
  return { outcome: 'inserted', record: definitionOf(inserted) };
}

export async function getDefinition(
  { definitions, disabled }: MongoContext,
  [id, version]: OperationArguments<'getDefinition'>,
): Promise<StoredDefinition | null> {
  const name = encodeText(id);
  const [found, disabledNames] = await Promise.all([
    version === 'latest'
      ? latestOf(definitions, name)
      : definitions.findOne({ _id: versionId(name, version) }, WITHOUT_SOURCE),
    disabledAmong(disabled, [name]),
  ]);
  return found === null ? null : { ...definitionOf(found), disabled: disabledNames.has(name) };
}

export async function getDefinitionSource(
  { definitions }: MongoContext,
  [id, version]: OperationArguments<'getDefinitionSource'>,
): Promise<string | null> {
  const name = encodeText(id);
  const found =
    version === 'latest'
      ? await definitions.findOne({ name }, { ...ONLY_SOURCE, sort: { version: -1 } })
      : await definitions.findOne({ _id: versionId(name, version) }, ONLY_SOURCE);
  return sourceOf(found);
}

export async function listDefinitions(
  { definitions, disabled }: MongoContext,
  [afterId, limit]: OperationArguments<'listDefinitions'>,
): Promise<readonly StoredDefinition[]> {
  const found = await listLatest(definitions, afterId, limit);
  const names = await disabledAmong(
    disabled,
    found.map(({ name }) => name),
  );
  return found.map((document) => ({
    ...definitionOf(document),
    disabled: names.has(document.name),
  }));
}

export async function listDefinitionVersions(
  { definitions, disabled }: MongoContext,
  [id, beforeVersion, limit]: OperationArguments<'listDefinitionVersions'>,
): Promise<readonly DefinitionVersion[]> {
  const [found, names] = await Promise.all([
    listVersions(definitions, { name: id, beforeVersion, limit }),
    disabledAmong(disabled, [encodeText(id)]),
  ]);
  return found.map(({ name, version, description, createdAt, origin = null }) => ({
    id: decodeText(name),
    version,
    createdAt,
    description: decodeOptional(description),
    disabled: names.has(name),
    origin,
  }));
}

export async function setDefinitionDisabled(
  { definitions, disabledDefinitions }: MongoContext,
  [id, isDisabled]: OperationArguments<'setDefinitionDisabled'>,
): Promise<boolean> {
  const known = await definitions.findOne({ name: encodeText(id) }, { projection: { _id: 1 } });
  if (known === null) return false;
  await disabledDefinitions.set(id, isDisabled);
  return true;
}

/** The stored names that are disabled. */
async function disabledAmong(
  disabled: Collection<DisabledDocument>,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const found = await disabled.find({ _id: { $in: [...names] } }).toArray();
  return new Set(found.map(({ _id }) => _id));
}

export async function insertStepScript(
  { stepScripts }: MongoContext,
  [{ name, source, createdAt }]: OperationArguments<'insertStepScript'>,
): Promise<StepScriptRecord> {
  const content = { name: encodeText(name), description: null, body: packText(source), createdAt };
  return stepScriptOf(await insertNextVersion(stepScripts, content));
}

export async function getStepScript(
  { stepScripts }: MongoContext,
  [name, version]: OperationArguments<'getStepScript'>,
): Promise<StepScriptRecord | null> {
  const stored = encodeText(name);
  const found =
    version === 'latest'
      ? await latestOf(stepScripts, stored)
      : await stepScripts.findOne({ _id: versionId(stored, version) });
  return found === null ? null : stepScriptOf(found);
}

export async function listStepScripts(
  { stepScripts }: MongoContext,
  [afterName, limit]: OperationArguments<'listStepScripts'>,
): Promise<readonly StepScriptRecord[]> {
  return (await listLatest(stepScripts, afterName, limit)).map(stepScriptOf);
}

export async function listStepScriptVersions(
  { stepScripts }: MongoContext,
  [id, beforeVersion, limit]: OperationArguments<'listStepScriptVersions'>,
): Promise<readonly StepScriptVersion[]> {
  return (await listVersions(stepScripts, { name: id, beforeVersion, limit })).map(
    ({ name, version, createdAt }) => ({ name: decodeText(name), version, createdAt }),
  );
}

async function insertStamped(
  context: MongoContext,
  content: NewVersion,
  stamp: IdempotencyStamp,
): Promise<OperationResult<'insertDefinition'>> {
  const { definitions, definitionStamps } = context;
  const stampId = encodeText(stamp.id);
  const requestHash = encodeText(stamp.requestHash);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const known = await definitionStamps.findOne({ _id: stampId });
    if (known === null) {
      const version = await nextVersion(definitions, content.name);
      const proposal = { _id: stampId, requestHash, name: content.name, version };
      await insertOnce(definitionStamps, proposal);
      continue;
    }
    if (known.requestHash !== requestHash) return { outcome: 'conflict' };
    const wanted = versionDocument(content, known.version, stampId);
    const existing = await definitions.findOne({ _id: wanted._id });
    if (existing?.stampId === stampId) {
      return { outcome: 'repeated', record: definitionOf(existing) };
    }
    if (existing === null) {
      if (await insertOnce(definitions, wanted)) {
        return { outcome: 'inserted', record: definitionOf(wanted) };
      }
      continue;
    }
    const version = await nextVersion(definitions, content.name);
    await definitionStamps.updateOne(
      { _id: stampId, version: known.version },
      { $set: { version } },
    );
  }
  throw tooMuchContention(content.name);
}

async function insertNextVersion(
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

async function nextVersion(collection: Collection<VersionDocument>, name: string): Promise<number> {
  const latest = await collection.findOne(
    { name },
    { sort: { version: -1 }, projection: { version: 1 } },
  );
  return (latest?.version ?? 0) + 1;
}

/** Returns false if the `_id` is taken. */
async function insertOnce<Item extends { readonly _id: string }>(
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

function listVersions(
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

function latestOf(
  collection: Collection<VersionDocument>,
  name: string,
): Promise<VersionDocument | null> {
  return collection.findOne({ name }, { sort: { version: -1 }, ...WITHOUT_SOURCE });
}

/**
 * Every name has a version 1, so those versions provide the page of names; a second query finds the latest version of
 * each.
 */
async function listLatest(
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
  const found = await collection.find({ _id: { $in: ids } }, WITHOUT_SOURCE).toArray();
  const byName = new Map(found.map((document) => [document.name, document]));
  return firsts.flatMap(({ name }) => byName.get(name) ?? []);
}

export function originMember(body: string): Pick<VersionDocument, 'origin'> {
  const origin = originOf(body);
  return origin === null ? {} : { origin };
}

export function versionDocument(
  content: NewVersion,
  version: number,
  stampId: string | null,
): VersionDocument {
  return { _id: versionId(content.name, version), ...content, version, stampId };
}

function versionId(name: string, version: number): string {
  return `${name}:${version}`;
}

export function definitionOf(document: VersionDocument): DefinitionRecord {
  return {
    id: decodeText(document.name),
    version: document.version,
    description: decodeOptional(document.description),
    body: unpackText(document.body),
    createdAt: document.createdAt,
  };
}

export function sourceOf(document: Pick<VersionDocument, 'source'> | null): string | null {
  const { source } = document ?? {};
  return source === undefined || source === null ? null : unpackText(source);
}

export function stepScriptOf(document: VersionDocument): StepScriptRecord {
  return {
    name: decodeText(document.name),
    version: document.version,
    source: unpackText(document.body),
    createdAt: document.createdAt,
  };
}

function tooMuchContention(name: string): StoreUnavailableError {
  return new StoreUnavailableError(`Too many concurrent writers of versions of ${name}`);
}
