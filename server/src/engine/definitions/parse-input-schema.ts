/**
 * The member Input: the JSON Schema (draft 2020-12) of the start data.
 *
 * Checks the schema's form: its type, size and references. Its keywords are checked when the definition is posted
 * (runtime/input-schemas/), because that needs a schema compiler.
 */
import { describeValue, quoteText } from '../values/convert-input.js';
import { remainingBytes, TOO_DEEP } from '../values/json-length.js';
import { getField, isJsonObject, type Json, type JsonObject } from '../values/json.js';
import { childPointer } from './json-pointer.js';
import type { InputSchema } from '../model/definition.js';
import type { MemberReader } from './member-reader.js';
import type { ParseState } from './parse-state.js';
import { schemaPositions } from './schema-positions.js';
import { SchemaReferences } from './schema-references.js';
import type { DefinitionMember } from './step-members.js';

/** Size of the schema as compact JSON. */
export const INPUT_SCHEMA_BYTES_MAX = 64 * 1024;
const INPUT_SCHEMA_DEPTH_MAX = 64;

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

export function parseInputSchema(reader: MemberReader<DefinitionMember>): InputSchema | null {
  const value = reader.value('input');
  if (value === null) return null;
  if (!isJsonObject(value) && typeof value !== 'boolean') {
    const message = `Input must be a JSON Schema (an object), not ${describeValue(value)}.`;
    return reader.fail('input', 'wrong_type', message);
  }
  const pointer = reader.pointerOf('input');
  const { state } = reader;
  if (!isAdmitted(value, pointer, state)) return null;
  for (const { schema, pointer: place } of schemaPositions(value, pointer)) {
    checkDraft(schema, place, state);
    checkReferences(value, schema, place, state);
  }
  reader.keep('input', value);
  state.input = { schema: value, pointer };
  return value;
}

function isAdmitted(value: InputSchema, pointer: string, state: ParseState): boolean {
  // The size is measured first, because it bounds all further work.
  const bytesMax = state.isStored ? Infinity : INPUT_SCHEMA_BYTES_MAX;
  const left = remainingBytes(value, bytesMax, INPUT_SCHEMA_DEPTH_MAX);
  if (left === TOO_DEEP) {
    const message = `A schema can be nested at most ${INPUT_SCHEMA_DEPTH_MAX} levels deep.`;
    state.errors.add('too_deep', pointer, message);
    return false;
  }
  if (left < 0) {
    const message = `The schema has more than ${INPUT_SCHEMA_BYTES_MAX} bytes as JSON. Shorten it, or describe less of the data.`;
    state.errors.add('too_large', pointer, message);
    return false;
  }
  return isJson(value, pointer, state) && state.admitValues(countValues(value), pointer);
}

/** Only callers other than the API can pass a value that is not JSON. */
function isJson(value: unknown, pointer: string, state: ParseState): boolean {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const message = `Numbers must be finite; ${value} cannot be stored as JSON.`;
    state.errors.add('invalid_value', pointer, message);
    return false;
  }
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) =>
    isJson(inner, childPointer(pointer, key), state),
  );
}

function countValues(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  const inner: readonly Json[] = Object.values(value);
  return inner.reduce<number>((count, item) => count + countValues(item), 1);
}

function checkDraft(schema: JsonObject, pointer: string, state: ParseState): void {
  const draft = getField(schema, '$schema');
  if (draft === undefined || draft === DRAFT || draft === `${DRAFT}#`) return;
  const message = `Only draft 2020-12 is supported, not ${describeValue(draft)}. Omit $schema, or write ${quoteText(DRAFT)}.`;
  state.errors.add('invalid_value', childPointer(pointer, '$schema'), message, DRAFT);
}

/** The server loads no documents, so a reference to another one could never be followed. */
function checkReferences(
  root: InputSchema,
  schema: JsonObject,
  pointer: string,
  state: ParseState,
): void {
  if (!isJsonObject(root)) return;
  const references = SchemaReferences.of(root);
  for (const keyword of ['$ref', '$dynamicRef']) {
    const target = getField(schema, keyword);
    if (typeof target !== 'string' || !references.isForeign(schema, target)) continue;
    const message = `${keyword} refers to another document: ${quoteText(target)}. A schema can refer only to its own parts, for example "#/$defs/address".`;
    state.errors.add('foreign_reference', childPointer(pointer, keyword), message);
  }
}
