/**
 * Reads and writes stored states. Long states are processed in slices, so that the size of one instance does not block
 * others.
 */
import type { Instance } from '../../engine/model/instance.js';
import {
  readState,
  readStateParts,
  writeState,
  writeStateParts,
} from '../../engine/model/snapshot.js';
import { readJson, writeJson } from '../../engine/values/exact-json.js';
import { isLight, writeJsonParts } from '../../engine/values/json-parts.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import { readJsonParts } from '../../engine/values/read-json-parts.js';
import { inSlices } from '../../base/slices.js';
import type { InstanceRecord } from '../../store/records/instances.js';

/** Shorter states are parsed in one go, in at most three milliseconds. */
const LONG_FROM = 64 * 1024;

/** @throws Error if the text is not a valid state; the caller quarantines the instance */
export async function readStored(record: InstanceRecord): Promise<Instance> {
  return record.state.length < LONG_FROM
    ? readState(record, record.state)
    : inSlices(readStateParts(record, record.state));
}

/** The instance must not change until this resolves. */
export async function writeStored(instance: Instance): Promise<string> {
  const parts = writeStateParts(instance);
  return parts === null ? writeState(instance) : inSlices(parts);
}

/** The stored form of a start's data. */
export async function writeInput(data: JsonObject): Promise<string> {
  return isLight(data) ? writeJson(data) : inSlices(writeJsonParts(data));
}

/** @throws Error if the text is not JSON */
export async function readLong(text: string): Promise<Json> {
  return text.length < LONG_FROM ? readJson(text) : inSlices(readJsonParts(text));
}
