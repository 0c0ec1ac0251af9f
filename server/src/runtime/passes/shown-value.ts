/** The history's form of a value: the value itself if it is small, otherwise a note that it was large. */
import { traitsOf } from '../../engine/definitions/step-types.js';
import type { StepDefinition } from '../../engine/model/definition.js';
import { remainingBytes } from '../../engine/values/json-length.js';
import { SecretMarks } from '../secrets/secret-marks.js';
import { isJsonObject, setField, type Json, type JsonObject } from '../../engine/values/json.js';

/** Maximum size of inputs or outputs in one record, in bytes of JSON. */
const LENGTH_MAX = 4096;

/** The cost depends on the limit, not on the value's size. */
export function shownValue(value: Json): Json {
  return remainingBytes(value, LENGTH_MAX) < 0 ? { truncated: true } : value;
}

/** Names of HTTP headers and query parameters that carry credentials. */
const CREDENTIAL = /auth|cookie|token|secret|passw|api[-_]?key|credential|signature/i;

/** A step's inputs as shown in the history, without credentials for calls. */
export function shownInputs(step: Pick<StepDefinition, 'type'>, inputs: JsonObject): Json {
  const { inputsWithCredentials } = traitsOf(step);
  const shown = shownValue(inputs);
  if (inputsWithCredentials.length === 0 || shown !== inputs) return shown;
  const hidden: JsonObject = { ...inputs };
  for (const name of inputsWithCredentials) {
    const fields = inputs[name];
    if (isJsonObject(fields)) hidden[name] = withoutCredentials(fields);
    else if (fields !== undefined && isCredential(name, fields)) hidden[name] = '[redacted]';
  }
  return hidden;
}

/** A secret is shown by its name, so that readers can identify it. */
function isCredential(name: string, value: Json): boolean {
  return CREDENTIAL.test(name) && value !== null && !SecretMarks.mayMark(value);
}

function withoutCredentials(fields: JsonObject): JsonObject {
  const shown: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) {
    setField(shown, name, isCredential(name, value) ? '[redacted]' : value);
  }
  return shown;
}
