/**
 * The header fields of a call.
 *
 *  H1 Names and values cannot smuggle anything: nothing in them ends a line or frames the message.
 *  H2 Only the server sets the fields that say where a message goes and where it ends.
 */
import { describeValue, quoteText, toText } from '../../engine/values/convert-input.js';
import type { JsonObject } from '../../engine/values/json.js';
import { InputError } from '../../engine/primitives/primitive.js';

/** Fields by lower-case name, which is also how they are sent. */
export type RequestHeaders = ReadonlyMap<string, string>;

const FIELDS_MAX = 100;
const TOTAL_LENGTH_MAX = 16_384;

const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const FIELD_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

const OURS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The defaults, overridden by the author's fields. @throws InputError */
export function buildRequestHeaders(
  fields: JsonObject,
  defaults: Readonly<Record<string, string>>,
): RequestHeaders {
  const headers = readFields(fields);
  for (const [name, value] of Object.entries(defaults)) {
    if (!headers.has(name)) headers.set(name, value);
  }
  return headers;
}

function readFields(fields: JsonObject): Map<string, string> {
  const entries = Object.entries(fields);
  if (entries.length > FIELDS_MAX) {
    throw new InputError(`the input Headers: at most ${FIELDS_MAX} fields can be sent`);
  }
  const headers = new Map<string, string>();
  let length = 0;
  for (const [key, value] of entries) {
    const name = key.toLowerCase();
    checkName(key, name);
    if (value === null) continue;
    const text = toText(value);
    if (!text.ok) throw refusal(key, `expected a string, but got ${describeValue(value)}`);
    if (!FIELD_VALUE.test(text.value)) {
      throw refusal(
        key,
        'line breaks, control characters and characters beyond Latin-1 are not allowed',
      );
    }
    if (headers.has(name)) throw refusal(key, 'it is given twice, in different spellings');
    headers.set(name, text.value);
    length += name.length + text.value.length;
  }
  if (length > TOTAL_LENGTH_MAX) {
    throw new InputError(`the input Headers: more than ${TOTAL_LENGTH_MAX} characters in total`);
  }
  return headers;
}

function checkName(key: string, name: string): void {
  if (!FIELD_NAME.test(name)) throw refusal(key, 'it is not a valid header field name');
  if (OURS.has(name)) throw refusal(key, 'the server sets this field itself');
}

function refusal(key: string, reason: string): InputError {
  return new InputError(`the input Headers: ${quoteText(key)}: ${reason}`);
}
