import { parseJson } from '@stepwright/sdk';

/**
 * Parses the data of a run as entered by the user; empty text is the empty object.
 *
 * @throws Error with a message for the user
 */
export function readJsonObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new Error(`Not valid JSON: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('Data must be a JSON object, such as {"name": "value"}');
  }
  return { ...value };
}
