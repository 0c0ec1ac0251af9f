/**
 * The URL of a call, from BaseUrl, Resource and Parameters.
 *
 *  U1 Scheme, host and port are those of BaseUrl, whatever Resource and Parameters contain.
 *  U2 The path starts with the path of BaseUrl: `..` in an external value cannot leave it.
 */
import { describeValue, toText } from '../../engine/values/convert-input.js';
import type { Json, JsonObject } from '../../engine/values/json.js';
import { InputError } from '../../engine/primitives/primitive.js';

/** Most servers reject longer ones. */
const URL_LENGTH_MAX = 16_384;

export interface UrlParts {
  readonly baseUrl: string;
  readonly resource: string;
  readonly parameters: JsonObject;
}

/** @throws InputError */
export function buildRequestUrl(parts: UrlParts): URL {
  const base = parseBaseUrl(parts.baseUrl);
  refuseOddCharacters('Resource', parts.resource);
  if (parts.resource.includes('#')) {
    throw new InputError('the input Resource: "#" in a path or query must be written as "%23"');
  }
  const url = new URL(base);
  const basePath = base.pathname.endsWith('/') ? base.pathname : `${base.pathname}/`;
  const [path, query] = splitQuery(parts.resource);
  // The slash at the start of `basePath` ends the authority, so no text in `path` can become part of the host.
  if (path !== '') url.pathname = `${basePath}${path.startsWith('/') ? path.slice(1) : path}`;
  url.search = [base.search.slice(1), query, encodeParameters('Parameters', parts.parameters)]
    .filter((part) => part !== '')
    .join('&');
  checkUrl(url, base, basePath);
  return url;
}

/** `a=1&b=x%20y`: a list repeats the name, null is omitted. Spaces become `%20`, which every server can read. */
export function encodeParameters(input: string, parameters: JsonObject): string {
  const encoded = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    const values: readonly Json[] = Array.isArray(value) ? value : [value];
    for (const item of values) {
      if (item === null) continue;
      const text = toText(item);
      if (!text.ok) {
        throw new InputError(
          `the input ${input}: ${JSON.stringify(name)} must be a string, number, boolean or a list of these, not ${describeValue(item)}`,
        );
      }
      encoded.append(name, text.value);
    }
  }
  return encoded.toString().replaceAll('+', '%20');
}

function parseBaseUrl(text: string): URL {
  refuseOddCharacters('BaseUrl', text);
  // Checked in the text, because the parser also accepts `http:host`, where people and parsers disagree about the host.
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) {
    throw new InputError('the input BaseUrl: expected an address such as "https://host/path"');
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^[^/]+\/\/[^/?#]*@/.test(text)) {
    throw new InputError(
      'the input BaseUrl: it must not contain a user name; use the inputs Username and Password',
    );
  }
  if (url.hash !== '' || text.includes('#')) {
    throw new InputError('the input BaseUrl: "#" must be written as "%23"');
  }
  return url;
}

/** Parsers disagree about the effect of these characters on a URL, which attacks on hosts exploit. */
function refuseOddCharacters(input: string, text: string): void {
  if (/[\u0000-\u001f\u007f\\]/.test(text)) {
    throw new InputError(`the input ${input}: control characters and "\\" are not allowed`);
  }
  if (text.trim() !== text) {
    throw new InputError(`the input ${input}: leading and trailing spaces are not allowed`);
  }
}

function splitQuery(resource: string): [path: string, query: string] {
  const mark = resource.indexOf('?');
  return mark === -1 ? [resource, ''] : [resource.slice(0, mark), resource.slice(mark + 1)];
}

/** Checks both rules again on the result: only the result counts, however it was built. */
function checkUrl(url: URL, base: URL, basePath: string): void {
  if (url.origin !== base.origin || url.username !== '' || url.password !== '') {
    throw new InputError('the input Resource: it must not change the host of BaseUrl');
  }
  if (url.pathname !== base.pathname && !url.pathname.startsWith(basePath)) {
    throw new InputError('the input Resource: it must not leave the path of BaseUrl');
  }
  if (url.href.length > URL_LENGTH_MAX) {
    throw new InputError(`the address is longer than ${URL_LENGTH_MAX} characters`);
  }
}
