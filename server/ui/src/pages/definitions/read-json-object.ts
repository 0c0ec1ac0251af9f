import { readJsonText } from '../../components/json-text.js';

/**
 * Parses the data of a run as entered by the user; empty text is the empty object.
 *
 * @throws Error with a message for the user
 */
export function readJsonObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  const value = readJsonText(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('Data must be a JSON object, such as {"name": "value"}');
  }
  return { ...value };
}
