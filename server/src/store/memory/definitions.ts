/** Definitions and custom steps: lists of versions. */
import type { OperationArguments, OperationResult } from '../store-operations.js';
import type {
  DefinitionRecord,
  DefinitionVersion,
  StepScriptRecord,
  StepScriptVersion,
  StoredDefinition,
} from '../records/definitions.js';
import { originOf } from '../definition-origin.js';
import { compareText } from '../text-order.js';
import type { MemoryData } from './memory-data.js';

export function insertDefinition(
  data: MemoryData,
  [definition, idempotency]: OperationArguments<'insertDefinition'>,
): OperationResult<'insertDefinition'> {
  const known = idempotency === null ? undefined : data.definitionStamps.get(idempotency.id);
  if (known !== undefined) {
    return known.stamp.requestHash === idempotency?.requestHash
      ? { outcome: 'repeated', record: known.record }
      : { outcome: 'conflict' };
  }
  const versions = data.definitions.get(definition.id) ?? [];
  const { id, description, body, createdAt, source } = definition;
  const record: DefinitionRecord = {
    id,
    version: versions.length + 1,
    description,
    body,
    createdAt,
  };
  data.definitions.set(id, [...versions, record]);
  if (source !== undefined && source !== null)
    data.definitionSources.set(sourceKey(id, record.version), source);
  if (idempotency !== null) {
    data.definitionStamps.set(idempotency.id, { stamp: idempotency, record });
  }
  return { outcome: 'inserted', record };
}

export function getDefinition(
  data: MemoryData,
  [id, version]: OperationArguments<'getDefinition'>,
): StoredDefinition | null {
  const versions = data.definitions.get(id) ?? [];
  const found = version === 'latest' ? versions.at(-1) : versions[version - 1];
  return found === undefined ? null : withState(data, found);
}

export function getDefinitionSource(
  data: MemoryData,
  [id, version]: OperationArguments<'getDefinitionSource'>,
): string | null {
  const found = getDefinition(data, [id, version]);
  return found === null ? null : (data.definitionSources.get(sourceKey(id, found.version)) ?? null);
}

function sourceKey(id: string, version: number): string {
  return `${version}:${id}`;
}

export function listDefinitions(
  data: MemoryData,
  [afterId, limit]: OperationArguments<'listDefinitions'>,
): readonly StoredDefinition[] {
  return newestOfEach(data.definitions, afterId, limit).map((found) => withState(data, found));
}

export function setDefinitionDisabled(
  data: MemoryData,
  [id, disabled]: OperationArguments<'setDefinitionDisabled'>,
): boolean {
  if (!data.definitions.has(id)) return false;
  if (disabled) data.disabled.add(id);
  else data.disabled.delete(id);
  return true;
}

export function listDefinitionVersions(
  data: MemoryData,
  [id, beforeVersion, limit]: OperationArguments<'listDefinitionVersions'>,
): readonly DefinitionVersion[] {
  return newestVersions(data.definitions.get(id) ?? [], beforeVersion, limit).map(
    ({ body, version, description, createdAt }) => ({
      id,
      version,
      description,
      createdAt,
      disabled: data.disabled.has(id),
      origin: originOf(body),
    }),
  );
}

export function insertStepScript(
  data: MemoryData,
  [script]: OperationArguments<'insertStepScript'>,
): StepScriptRecord {
  const versions = data.stepScripts.get(script.name) ?? [];
  const { name, source, createdAt } = script;
  const record: StepScriptRecord = { name, version: versions.length + 1, source, createdAt };
  data.stepScripts.set(name, [...versions, record]);
  return record;
}

export function getStepScript(
  data: MemoryData,
  [name, version]: OperationArguments<'getStepScript'>,
): StepScriptRecord | null {
  const versions = data.stepScripts.get(name) ?? [];
  return (version === 'latest' ? versions.at(-1) : versions[version - 1]) ?? null;
}

export function listStepScripts(
  data: MemoryData,
  [afterName, limit]: OperationArguments<'listStepScripts'>,
): readonly StepScriptRecord[] {
  return newestOfEach(data.stepScripts, afterName, limit);
}

export function listStepScriptVersions(
  data: MemoryData,
  [name, beforeVersion, limit]: OperationArguments<'listStepScriptVersions'>,
): readonly StepScriptVersion[] {
  return newestVersions(data.stepScripts.get(name) ?? [], beforeVersion, limit).map(
    ({ version, createdAt }) => ({ name, version, createdAt }),
  );
}

function withState({ disabled }: MemoryData, record: DefinitionRecord): StoredDefinition {
  return { ...record, disabled: disabled.has(record.id) };
}

function newestVersions<Item extends { readonly version: number }>(
  versions: readonly Item[],
  beforeVersion: number | null,
  limit: number,
): readonly Item[] {
  return versions
    .filter(({ version }) => beforeVersion === null || version < beforeVersion)
    .toReversed()
    .slice(0, limit);
}

function newestOfEach<Item>(
  versionsByName: ReadonlyMap<string, readonly Item[]>,
  after: string | null,
  limit: number,
): readonly Item[] {
  return [...versionsByName.keys()]
    .filter((name) => after === null || compareText(name, after) > 0)
    .sort(compareText)
    .slice(0, limit)
    .flatMap((name) => versionsByName.get(name)?.slice(-1) ?? []);
}
