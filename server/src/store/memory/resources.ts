/** Resources: webhooks, API keys and other settings, and records that expire. */
import type { OperationArguments } from '../store-operations.js';
import type { ResourceKind, ResourceRecord } from '../records/resources.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';

export function saveResource(
  { resources }: MemoryData,
  [resource, expected]: OperationArguments<'saveResource'>,
): boolean {
  const key = keyOf(resource.kind, resource.name);
  if ((resources.get(key)?.revision ?? null) !== expected) return false;
  resources.set(key, { ...resource });
  return true;
}

export function removeResource(
  { resources }: MemoryData,
  [kind, name]: OperationArguments<'removeResource'>,
): boolean {
  return resources.delete(keyOf(kind, name));
}

export function getResource(
  { resources }: MemoryData,
  [kind, name]: OperationArguments<'getResource'>,
): ResourceRecord | null {
  return resources.get(keyOf(kind, name)) ?? null;
}

export function listResources(
  { resources }: MemoryData,
  [kind, afterName, limit]: OperationArguments<'listResources'>,
): readonly ResourceRecord[] {
  return [...resources.values()]
    .filter((resource) => resource.kind === kind)
    .filter(({ name }) => afterName === null || compareText(name, afterName) > 0)
    .sort((left, right) => compareText(left.name, right.name))
    .slice(0, limit);
}

export function purgeResources(
  { resources }: MemoryData,
  [expiredBefore, limit]: OperationArguments<'purgeResources'>,
): number {
  const expired = [...resources.values()]
    .filter(({ expiresAt }) => expiresAt !== null && expiresAt < expiredBefore)
    .sort((left, right) => (left.expiresAt ?? 0) - (right.expiresAt ?? 0))
    .slice(0, limit);
  for (const { kind, name } of expired) resources.delete(keyOf(kind, name));
  return expired.length;
}

export function keyOf(kind: ResourceKind, name: string): string {
  return `${kind}:${name}`;
}
