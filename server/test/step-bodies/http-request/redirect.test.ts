/** The result of a redirect, as a table over status, method and origin. */
import { describe, expect, it } from 'vitest';
import type { HttpCall } from '../../../src/step-bodies/http-request/http-call.js';
import { AddressRefusedError } from '../../../src/step-bodies/http-request/pinned-connector.js';
import { followRedirect } from '../../../src/step-bodies/http-request/redirect.js';

function callOf(method: string, url = 'https://api.test/a/b'): HttpCall {
  const headers = new Map([
    ['authorization', 'Bearer x'],
    ['cookie', 'c=1'],
    ['x-api-key', 'k'],
    ['accept', 'text/csv'],
    ['content-type', 'application/json'],
    ['idempotency-key', 'w1/7/1'],
  ]);
  return { method, url: new URL(url), headers, body: method === 'GET' ? null : Buffer.from('{}') };
}

describe('followRedirect', () => {
  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [301, 'PUT', 'PUT'],
    [302, 'DELETE', 'DELETE'],
    [307, 'POST', 'POST'],
    [308, 'PATCH', 'PATCH'],
    [302, 'GET', 'GET'],
  ])('turns status %i after %s into %s', (status, method, expected) => {
    const next = followRedirect(callOf(method), status, ['/c']);
    expect(next?.method).toBe(expected);
    const keepsBody = expected === method && method !== 'GET';
    expect(next?.body?.toString()).toBe(keepsBody ? '{}' : undefined);
    if (!keepsBody && method === 'POST') expect(next?.headers.has('content-type')).toBe(false);
  });

  it('keeps every header within the origin', () => {
    const call = callOf('PUT');
    const next = followRedirect(call, 307, ['../c?d=1#e']);
    expect(next?.url.href).toBe('https://api.test/c?d=1');
    expect(next?.headers).toEqual(call.headers);
  });

  it.each([
    'https://evil.test/',
    '//evil.test/',
    'https://api.test:8443/',
    'https://api.test.evil.test/',
    'https://api.test@evil.test/',
    '\\\\evil.test/',
  ])('removes possible credentials for %s', (location) => {
    const next = followRedirect(callOf('PUT'), 307, [location]);
    expect(next?.url.host).not.toBe('api.test');
    expect(next?.url.username).toBe('');
    expect([...(next?.headers.keys() ?? [])].sort()).toEqual([
      'accept',
      'content-type',
      'idempotency-key',
    ]);
  });

  it('removes credentials if only the scheme changes', () => {
    const next = followRedirect(callOf('GET'), 302, ['http://api.test/']);
    expect(next?.headers.has('authorization')).toBe(false);
  });

  it('does not repeat an encrypted body without encryption', () => {
    expect(() => followRedirect(callOf('PUT'), 307, ['http://api.test/'])).toThrow(
      AddressRefusedError,
    );
  });

  it.each(['file:///etc/passwd', 'gopher://x/', 'ftp://x/', 'data:text/plain,x', 'javascript:1'])(
    'rejects a redirect to %s',
    (location) => {
      expect(() => followRedirect(callOf('GET'), 302, [location])).toThrow(AddressRefusedError);
    },
  );

  it('goes where equal locations lead, and nowhere if they differ', () => {
    expect(followRedirect(callOf('GET'), 302, ['/x', '/x'])?.url.pathname).toBe('/x');
    expect(followRedirect(callOf('GET'), 302, ['/x', '/y'])).toBeNull();
  });

  it.each([
    [200, '/x'],
    [300, '/x'],
    [304, '/x'],
    [305, '/x'],
    [302, null],
    [302, 'http://['],
  ])('treats %i with the location %j as a result', (status, location) => {
    expect(followRedirect(callOf('GET'), status, location === null ? [] : [location])).toBeNull();
  });
});
