/**
 * The call that follows a redirect.
 *
 *  RD1 Another origin gets only those of the author's header fields that describe the message: any other may be a
 *      credential, not only `Authorization`.
 *  RD2 A body that was sent encrypted is not sent again unencrypted.
 */
import type { HttpCall } from './http-call.js';
import { AddressRefusedError } from './pinned-connector.js';

export const REDIRECTS_MAX = 5;

const DESCRIBING_FIELDS = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-language',
  'content-type',
  'idempotency-key',
  'user-agent',
]);

/**
 * Null if the response is not a redirect that can be followed: then it is the result.
 *
 * @param locations the bytes of each `Location` field, as Latin-1; fields that differ lead nowhere
 * @throws AddressRefusedError
 */
export function followRedirect(
  call: HttpCall,
  statusCode: number,
  locations: readonly string[],
): HttpCall | null {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return null;
  const [location, ...others] = new Set(locations.map(escapeBytes));
  if (location === undefined || others.length > 0) return null;
  if (!URL.canParse(location, call.url.href)) return null;
  const url = new URL(location, call.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AddressRefusedError(`the response redirects to ${url.protocol}, which is not HTTP`);
  }
  // Credentials that the redirecting host has set are not the author's.
  url.username = '';
  url.password = '';
  url.hash = '';
  const next = withoutBodyWhereDropped({ ...call, url }, statusCode);
  if (next.body !== null && call.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new AddressRefusedError('the response redirects a request body from https to http');
  }
  return url.origin === call.url.origin ? next : { ...next, headers: describing(next.headers) };
}

/** As in browsers: bytes beyond ASCII go back as they came. They are usually UTF-8, as in the address that they mean. */
function escapeBytes(location: string): string {
  return location.replaceAll(
    /[\u0080-\u00ff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** As in browsers: 303 becomes GET, and so do 301 and 302 for POST; 307 and 308 repeat the request unchanged. */
function withoutBodyWhereDropped(call: HttpCall, statusCode: number): HttpCall {
  const becomesGet =
    statusCode === 303
      ? call.method !== 'GET' && call.method !== 'HEAD'
      : statusCode <= 302 && call.method === 'POST';
  if (!becomesGet) return call;
  const headers = new Map([...call.headers].filter(([name]) => !name.startsWith('content-')));
  return { ...call, method: 'GET', body: null, headers };
}

function describing(headers: HttpCall['headers']): HttpCall['headers'] {
  return new Map([...headers].filter(([name]) => DESCRIBING_FIELDS.has(name)));
}
