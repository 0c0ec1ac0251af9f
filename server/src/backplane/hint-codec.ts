/** Hints as text. What comes from Redis may have been written by anybody: anything odd is no hint. */
import { isJsonObject } from '../engine/json.js';
import type { Hint } from './backplane.js';

/** A hint names one thing; anything longer is not ours. */
const TEXT_LENGTH_MAX = 4096;

export interface SentHint {
  readonly sender: string;
  readonly hint: Hint;
}

export function writeHint(sent: SentHint): string {
  return JSON.stringify(sent);
}

/** Null for text that no node of this version wrote. */
export function readHint(text: string): SentHint | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isJsonObject(value) || typeof value['sender'] !== 'string') return null;
  const hint = hintOf(value['hint']);
  return hint === null ? null : { sender: value['sender'], hint };
}

function hintOf(value: unknown): Hint | null {
  if (!isJsonObject(value)) return null;
  const { id, kind, name } = value;
  if (
    typeof id === 'string' &&
    (kind === 'instance' || kind === 'definition' || kind === 'ended')
  ) {
    return { kind, id };
  }
  if (typeof name === 'string' && (kind === 'activity' || kind === 'step')) return { kind, name };
  return null;
}
