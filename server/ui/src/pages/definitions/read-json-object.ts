import { parseJson } from '@stepwright/sdk';

/**
 * What somebody typed as the data of a run; nothing is the empty object.
 *
 * @throws Error with a sentence for whoever typed it
 */
export function readJsonObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('Data is a JSON object: {"name": "value"}');
  }
  return { ...value };
}
