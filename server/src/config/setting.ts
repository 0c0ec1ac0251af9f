/** One setting: its default, its description, and how its text is read. */
import { isSecureUrl } from '../api/access/secure-url.js';
import { isPostgresAddress, readPostgresAddress } from '../postgres/address.js';

/** Converts the text of an environment variable to a value. @throws Error that says what was expected */
type Reader<Value> = (text: string) => Value;

export interface Setting<Value> {
  readonly read: Reader<Value>;
  readonly fallback: Value;
  /** The default as shown in the documentation. */
  readonly shown: string;
  readonly meaning: string;
  /** The value is never shown, and never visible to `environment` in expressions. */
  readonly secret?: true;
}

export const text: Reader<string> = (value) => value;

export function integer(min: number, max: number): Reader<number> {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
    if (number >= min && number <= max) return number;
    throw new Error(`must be a whole number from ${min} to ${max}`);
  };
}

export const flag: Reader<boolean> = (value) => {
  const known = FLAGS[value.toLowerCase()];
  if (known !== undefined) return known;
  throw new Error('must be true or false');
};

const FLAGS: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  on: true,
  false: false,
  '0': false,
  no: false,
  off: false,
};

export function oneOf<const Choice extends string>(choices: readonly Choice[]): Reader<Choice> {
  return (value) => {
    const found = choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
    if (found !== undefined) return found;
    throw new Error(`must be one of ${choices.join(', ')}`);
  };
}

export const list: Reader<readonly string[]> = (value) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** In the format of browsers: a scheme and a host, with an optional port, and no path. */
export const origins: Reader<readonly string[]> = (value) => {
  const entries = list(value);
  for (const entry of entries) {
    if (URL.canParse(entry) && new URL(entry).origin === entry) continue;
    throw new Error('must be origins such as https://app.example.com, separated by commas');
  }
  return entries;
};

export function url(...protocols: readonly string[]): Reader<string> {
  return (value) => {
    if (protocols.some((protocol) => value.startsWith(`${protocol}://`))) return value;
    throw new Error(
      `must begin with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
    );
  };
}

/** The address of a service that must not be imitated. */
export const secureUrl: Reader<string> = (value) => {
  if (isSecureUrl(value)) return value;
  throw new Error(
    'must begin with https:// (http:// only for localhost), without user and password',
  );
};

/** The page makes links of it. */
export const traceUrl: Reader<string> = (value) => {
  const example = value.replaceAll('{trace_id}', '0'.repeat(32));
  const isWeb = URL.canParse(example) && /^https?:$/.test(new URL(example).protocol);
  if (isWeb && value.includes('{trace_id}')) return value;
  throw new Error('must be an http:// or https:// address that contains {trace_id}');
};

/** Parameters of an address, without the question mark. */
export const queryText: Reader<string> = (value) => {
  if (/^[^\s?#&=]+=[^\s?#&]*(&[^\s?#&=]+=[^\s?#&]*)*$/.test(value)) return value;
  throw new Error('must be parameters such as a=1&b=2');
};

/** An address whose parts are checked, as far as that is possible without connecting. */
export function databaseUrl(...protocols: readonly string[]): Reader<string> {
  const read = url(...protocols);
  return (value) => {
    const address = read(value);
    if (isPostgresAddress(address)) readPostgresAddress(address);
    return address;
  };
}

export function setting<Value>(
  read: Reader<Value>,
  fallback: Value,
  meaning: string,
  options: { readonly shown?: string; readonly secret?: true } = {},
): Setting<Value> {
  const { shown = String(fallback), ...rest } = options;
  return { read, fallback, shown, meaning, ...rest };
}
