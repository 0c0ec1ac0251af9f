/** Resources: webhooks, API keys and other settings, and records that expire. */
import type { OperationArguments } from '../store-operations.js';
import type { ResourceKind, ResourceRecord } from '../records/resources.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { ResourceDocument } from './documents.js';
import type { MongoContext } from './mongo-context.js';
import { packText, unpackText } from './packed-text.js';
import { saveRevision } from './versioned-documents.js';

export async function saveResource(
  { resources }: MongoContext,
  [resource, expected]: OperationArguments<'saveResource'>,
): Promise<boolean> {
  return saveRevision(resources, resourceDocumentOf(resource), expected);
}

export async function removeResource(
  { resources }: MongoContext,
  [kind, name]: OperationArguments<'removeResource'>,
): Promise<boolean> {
  return (await resources.deleteOne({ _id: resourceIdOf(kind, name) })).deletedCount > 0;
}

export async function getResource(
  { resources }: MongoContext,
  [kind, name]: OperationArguments<'getResource'>,
): Promise<ResourceRecord | null> {
  const document = await resources.findOne({ _id: resourceIdOf(kind, name) });
  return document === null ? null : resourceOf(document);
}

export async function listResources(
  { resources }: MongoContext,
  [kind, afterName, limit]: OperationArguments<'listResources'>,
): Promise<readonly ResourceRecord[]> {
  const found = resources.find({ kind, name: { $gt: encodeText(afterName ?? '') } });
  return (await found.sort({ kind: 1, name: 1 }).limit(limit).toArray()).map(resourceOf);
}

export async function purgeResources(
  { resources }: MongoContext,
  [expiredBefore, limit]: OperationArguments<'purgeResources'>,
): Promise<number> {
  // Numbers only: a comparison doesn't match a resource that never expires.
  const expired = resources.find({ expiresAt: { $lt: expiredBefore } }).sort({ expiresAt: 1 });
  const ids = (await expired.limit(limit).project<{ _id: string }>({ _id: 1 }).toArray()).map(
    ({ _id }) => _id,
  );
  return ids.length === 0 ? 0 : (await resources.deleteMany({ _id: { $in: ids } })).deletedCount;
}

export function resourceOf(document: ResourceDocument): ResourceRecord {
  return {
    kind: document.kind,
    name: decodeText(document.name),
    revision: document.revision,
    expiresAt: document.expiresAt,
    body: unpackText(document.body),
  };
}

export function resourceDocumentOf(resource: ResourceRecord): ResourceDocument {
  return {
    _id: resourceIdOf(resource.kind, resource.name),
    kind: resource.kind,
    name: encodeText(resource.name),
    revision: resource.revision,
    expiresAt: resource.expiresAt,
    body: packText(resource.body),
  };
}

export function resourceIdOf(kind: ResourceKind, name: string): string {
  return `${kind}:${encodeText(name)}`;
}
