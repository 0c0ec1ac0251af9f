/** Writes a JSON value as a Python expression. */
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';

export function pythonLiteral(value: Json): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  // A JSON string is also a valid Python literal, so the JSON text of a whole value can be passed as one.
  if (typeof value === 'object') return `json.loads(${writeJson(writeJson(value))})`;
  return writeJson(value);
}
