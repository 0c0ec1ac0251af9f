/** Lists of HTTP statuses: single ones, and classes such as `2xx`. */
import type { Conversion } from './convert-input.js';
import { describeValue } from './convert-input.js';
import type { Json } from './json.js';

export interface StatusList {
  includes(statusCode: number): boolean;
}

const STATUSES_MAX = 100;
const ENTRY = /^(?:[1-5]xx|[1-5]\d\d)$/;

export function toStatusList(value: Json): Conversion<StatusList> {
  if (!Array.isArray(value) || value.length === 0 || value.length > STATUSES_MAX) {
    return refused(value);
  }
  const entries = new Set<string>();
  for (const item of value as readonly Json[]) {
    const text = typeof item === 'string' || typeof item === 'number' ? String(item) : '';
    const entry = text.trim().toLowerCase();
    if (!ENTRY.test(entry)) return refused(item);
    entries.add(entry);
  }
  const includes = (statusCode: number): boolean =>
    entries.has(String(statusCode)) || entries.has(`${Math.floor(statusCode / 100)}xx`);
  return { ok: true, value: { includes } };
}

function refused(value: Json): Conversion<never> {
  const expected = 'expected a list of statuses and classes of statuses such as [2xx, 404]';
  return { ok: false, message: `${expected}, but got ${describeValue(value)}` };
}
