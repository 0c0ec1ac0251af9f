/** Definitions and custom steps: lists of versions. */
import type { OperationArguments, OperationResult } from '../operations.js';
import type { DefinitionRecord, StepScriptRecord } from '../store.js';
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
  const { id, description, body, createdAt } = definition;
  const record: DefinitionRecord = {
    id,
    version: versions.length + 1,
    description,
    body,
    createdAt,
  };
  data.definitions.set(id, [...versions, record]);
  if (idempotency !== null) {
    data.definitionStamps.set(idempotency.id, { stamp: idempotency, record });
  }
  return { outcome: 'inserted', record };
}

export function getDefinition(
  data: MemoryData,
  [id, version]: OperationArguments<'getDefinition'>,
): DefinitionRecord | null {
  const versions = data.definitions.get(id) ?? [];
  return (version === 'latest' ? versions.at(-1) : versions[version - 1]) ?? null;
}

export function listDefinitions(
  data: MemoryData,
  [afterId, limit]: OperationArguments<'listDefinitions'>,
): readonly DefinitionRecord[] {
  return newestOfEach(data.definitions, afterId, limit);
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
  [name]: OperationArguments<'getStepScript'>,
): StepScriptRecord | null {
  return data.stepScripts.get(name)?.at(-1) ?? null;
}

export function listStepScripts(
  data: MemoryData,
  [afterName, limit]: OperationArguments<'listStepScripts'>,
): readonly StepScriptRecord[] {
  return newestOfEach(data.stepScripts, afterName, limit);
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
