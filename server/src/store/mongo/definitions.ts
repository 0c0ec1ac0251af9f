/**
 * Definitions and custom steps.
 *
 * A request with an idempotency stamp first records the version that it is going to insert. Any process that finds the
 * stamp can then finish the work of a writer that died. If the version of that number has the stamp, nothing is left to
 * do. If it doesn't exist, it is inserted now. If it belongs to another writer, the stamp moves on by compare-and-set.
 * So a stamp gets exactly one version.
 */
import type { Collection } from 'mongodb';
import { originOf } from '../definition-origin.js';
import type {
  DefinitionRecord,
  DefinitionVersion,
  IdempotencyStamp,
  StepScriptRecord,
  StepScriptVersion,
  StoredDefinition,
} from '../records/definitions.js';
import type { OperationArguments, OperationResult } from '../store-operations.js';
import { decodeText, encodeOptional, encodeText } from '../text-codec.js';
import type { DisabledDocument, VersionDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';
import { decodeOptional, packOptional, packText, unpackText } from './packed-text.js';
import {
  ATTEMPTS_MAX,
  findVersion,
  insertNextVersion,
  insertOnce,
  listLatest,
  listVersions,
  nextVersion,
  tooMuchContention,
  versionDocument,
  type NewVersion,
} from './versioned-documents.js';

const ONLY_SOURCE = { source: 1 } as const;

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
    findVersion(definitions, name, version),
    disabledAmong(disabled, [name]),
  ]);
  return found === null ? null : { ...definitionOf(found), disabled: disabledNames.has(name) };
}

export async function getDefinitionSource(
  { definitions }: MongoContext,
  [id, version]: OperationArguments<'getDefinitionSource'>,
): Promise<string | null> {
  const found = await findVersion(definitions, encodeText(id), version, ONLY_SOURCE);
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
  const found = await findVersion(stepScripts, encodeText(name), version);
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

export function originMember(body: string): Pick<VersionDocument, 'origin'> {
  const origin = originOf(body);
  return origin === null ? {} : { origin };
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
