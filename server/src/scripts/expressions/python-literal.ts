/** Writes a JSON value as a Python expression. */
import { writeJson } from '../../engine/values/exact-json.js';
import type { Json } from '../../engine/values/json.js';

export function pythonLiteral(value: Json): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  // A text in JSON is one in Python as well, so that of a whole value can be one.
  if (typeof value === 'object') return `json.loads(${writeJson(writeJson(value))})`;
  return writeJson(value);
}
