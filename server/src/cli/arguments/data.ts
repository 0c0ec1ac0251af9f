/** Reads JSON from arguments: as text, from a file, from standard input, or as `name=value`. */
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { exactInteger, IntegerTooLong, readJson } from '../../engine/values/exact-json.js';
import { isJsonObject, setField, type Json, type JsonObject } from '../../engine/values/json.js';
import { withoutByteOrderMark } from '../../base/byte-order-mark.js';
import { misused } from '../failure.js';

const MEMBER = /^([^\s={["][^=]*)=(.*)$/s;

/** Later arguments override members of earlier ones. @throws CommandFailure */
export async function readObject(texts: readonly string[], option: string): Promise<JsonObject> {
  const result: JsonObject = {};
  for (const text of texts) {
    const value = await readValue(text, option);
    if (!isJsonObject(value)) {
      throw misused(`${option} must be a JSON object, @file, or name=value, not ${text}`);
    }
    for (const [name, member] of Object.entries(value)) setField(result, name, member);
  }
  return result;
}

/** `{"a": 1}`, `@file` (JSON or YAML), `@-` (standard input), or `a=1`. @throws CommandFailure */
export async function readValue(text: string, option: string): Promise<Json> {
  if (text.startsWith('@')) return readValueFile(text.slice(1), option);
  const [, name, value] = MEMBER.exec(text) ?? [];
  if (name === undefined || value === undefined) return parsed(text, option);
  const object: JsonObject = {};
  setField(object, name, jsonOrText(value));
  return object;
}

async function readValueFile(file: string, option: string): Promise<Json> {
  const read = await (file === '-' ? textOf(process.stdin) : readFile(file, 'utf8')).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw misused(`${option}: ${file} cannot be read: ${reason}`);
    },
  );
  const text = withoutByteOrderMark(read);
  const origin = `${option} (${file})`;
  if (!/\.ya?ml$/i.test(file)) return parsed(text, origin);
  const { parse } = await import('yaml');
  try {
    // Large integers stay exact, as in JSON.
    const value: unknown = parse(
      text,
      (_key, each: unknown) => (typeof each === 'bigint' ? exactInteger(each) : each),
      { logLevel: 'error', intAsBigInt: true },
    );
    return value as Json;
  } catch (error) {
    throw misused(`${origin}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parsed(text: string, origin: string): Json {
  try {
    return readJson(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const hint = error instanceof IntegerTooLong ? '' : '; for text, write name=value or "text"';
    throw misused(`${origin} is not JSON: ${error.message}${hint}`);
  }
}

/** `7`, `true` and `["a"]` are JSON; everything else is text. */
function jsonOrText(text: string): Json {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}
