/** Limits and keys as one text, which keeps their order. */
import type { LimitKey, NeededSlot } from '../records/slots.js';
import { decodeText, encodeText } from '../text-codec.js';
import type { NeedDocument } from './slot-documents.js';

/** Greater than the separator, so that texts keep their order. */
const ESCAPED_NUL = '\0\u0001';
const SEPARATOR = '\0\0';

/** In the order of limits, then keys. */
export function onOf({ key, limit }: LimitKey): string {
  return nameOf(limit) + SEPARATOR + encodeText(key);
}

export function limitKeyOf(on: string): LimitKey {
  const key = on.slice(limitIn(on).length + SEPARATOR.length);
  return { limit: decodeText(limitIn(on).replaceAll(ESCAPED_NUL, '\0')), key: decodeText(key) };
}

export function distinctKeys(keys: readonly LimitKey[]): readonly LimitKey[] {
  return [...new Set(keys.map(onOf))].map(limitKeyOf);
}

/** The limit, as a part of the text. */
export function limitIn(on: string): string {
  return on.slice(0, on.indexOf(SEPARATOR));
}

function nameOf(limit: string): string {
  return encodeText(limit).replaceAll('\0', ESCAPED_NUL);
}

/** All keys of a limit. */
export function keysOf(limit: string): { readonly $gte: string; readonly $lt: string } {
  const name = nameOf(limit);
  return { $gte: name + SEPARATOR, $lt: name + ESCAPED_NUL };
}

export function needDocumentOf(need: NeededSlot): NeedDocument {
  return { on: onOf(need), units: need.units };
}

export function neededSlotOf({ on, units }: NeedDocument): NeededSlot {
  return { ...limitKeyOf(on), units };
}
