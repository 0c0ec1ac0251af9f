/** JSON that the user writes. Pure. */
import { parseJson } from '@stepwright/sdk';

/** @throws Error with a message for the user */
export function readJsonText(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`Not valid JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

/** Why the text is not valid JSON; null if it is. */
export function jsonProblem(text: string): string | null {
  try {
    readJsonText(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
