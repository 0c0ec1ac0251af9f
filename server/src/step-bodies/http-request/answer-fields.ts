/** The header fields of a response, as undici gives them: by lower-case name, bytes as Latin-1. */
import type { IncomingHttpHeaders } from 'node:http';
import { setField, type JsonObject } from '../../engine/values/json.js';

/** Repeated fields are joined as HTTP allows, except cookies, which contain commas: they are always a list. */
export function toJsonHeaders(headers: IncomingHttpHeaders): JsonObject {
  const json: JsonObject = {};
  for (const name of Object.keys(headers)) {
    const values = fieldsOf(headers, name).map(fieldText);
    setField(json, name.toLowerCase(), name === 'set-cookie' ? values : values.join(', '));
  }
  return json;
}

/** The HTTP client gives bytes as Latin-1. They are usually UTF-8; what cannot be UTF-8 is Latin-1. */
function fieldText(value: string): string {
  if (!/[\u0080-\u00ff]/.test(value)) return value;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/** A field that is repeated with an equal value counts once: proxies add some again. */
export function field(headers: IncomingHttpHeaders, name: string): string | null {
  const values = new Set(fieldsOf(headers, name));
  return values.size === 0 ? null : [...values].join(', ');
}

export function fieldsOf(headers: IncomingHttpHeaders, name: string): readonly string[] {
  const value = headers[name] ?? [];
  return Array.isArray(value) ? value : [value];
}
