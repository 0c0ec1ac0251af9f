/** URLs from BaseUrl, Resource and Parameters: tables, and random texts that must never change the host. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/engine/values/json.js';
import { InputError } from '../../../src/engine/primitives/primitive.js';
import { buildRequestUrl } from '../../../src/step-bodies/http-request/request-url.js';
import { propertyRuns } from '../../support/property-runs.js';

function urlOf(baseUrl: string, resource = '', parameters: JsonObject = {}): string {
  return buildRequestUrl({ baseUrl, resource, parameters }).href;
}

describe('buildRequestUrl', () => {
  it.each([
    ['http://api', '', 'http://api/'],
    ['http://api', 'orders', 'http://api/orders'],
    ['http://api/', '/orders/', 'http://api/orders/'],
    ['http://api/v1', 'orders/7', 'http://api/v1/orders/7'],
    ['http://api/v1/', '/orders/7', 'http://api/v1/orders/7'],
    ['http://api/v1', '', 'http://api/v1'],
    ['HTTPS://API:8443/v1', 'a b/ü', 'https://api:8443/v1/a%20b/%C3%BC'],
    ['http://api', 'a%2Fb', 'http://api/a%2Fb'],
    ['http://api', 'orders?open=true', 'http://api/orders?open=true'],
    ['http://api', '?open=true', 'http://api/?open=true'],
    ['http://api/f?code=1', 'run?x=2', 'http://api/f/run?code=1&x=2'],
    ['http://api/a/b', './c', 'http://api/a/b/c'],
    ['http://api/a/b', 'c/../d', 'http://api/a/b/d'],
    ['http://[::1]:81', 'x', 'http://[::1]:81/x'],
  ])('joins %j and %j', (base, resource, url) => {
    expect(urlOf(base, resource)).toBe(url);
  });

  it('adds parameters: lists repeat the name, null is dropped, all values are encoded', () => {
    const parameters = {
      text: 'a b&c=d',
      plus: '1+1',
      number: 1.5,
      yes: true,
      list: ['x', null, 2],
      none: null,
      'na me': 'ü',
    };
    expect(urlOf('http://api', 'q?first=1', parameters)).toBe(
      'http://api/q?first=1&text=a%20b%26c%3Dd&plus=1%2B1&number=1.5&yes=true&list=x&list=2&na%20me=%C3%BC',
    );
  });

  it('replaces a lone surrogate instead of failing', () => {
    expect(urlOf('http://api', '', { x: '\ud800' })).toBe('http://api/?x=%EF%BF%BD');
  });

  /** Texts that would name another host, or might for another parser. */
  it.each([
    ['http://api', '@evil/'],
    ['http://api', '//evil'],
    ['http://api', '///evil'],
    ['http://api', 'http://evil/'],
    ['http://api', ':80@evil/'],
    ['http://api', '.evil.test/'],
    ['http://api', ':8080/'],
    ['http://api', '?@evil/'],
    ['http://api', '%2f%2fevil'],
    ['http://api/', '/@evil'],
  ])('keeps the host of %s with the resource %s', (base, resource) => {
    expect(new URL(urlOf(base, resource)).host).toBe('api');
  });

  it.each([
    ['http://api', '\\evil'],
    ['http://api', '\\\\evil\\x'],
    ['http://api', '/\t/evil'],
    ['http://api', 'x\r\nHost: evil'],
    ['http://api', 'x\u0000'],
    ['http://api', ' x'],
    ['http://api', 'x#fragment'],
    ['http://api', '?#'],
    ['http://api/v1', '../admin'],
    ['http://api/v1', 'x/../../admin'],
    ['http://api/v1', '%2e%2e/admin'],
    ['http://api/v1', '..'],
    ['http://api\\@evil', ''],
    ['http://user@api', ''],
    ['http://user:secret@api', ''],
    ['http://@api', ''],
    ['http://api#@evil', ''],
    ['http://api ', ''],
    ['http:api', ''],
    ['http:/api', ''],
    ['http:///api', ''],
    ['http://', ''],
    ['http://?x', ''],
    ['//api', ''],
    ['api/v1', ''],
    ['', ''],
    ['file:///etc/passwd', ''],
    ['gopher://api/', ''],
    ['ftp://api/', ''],
    ['javascript:alert(1)', ''],
    ['http://api:99999', ''],
    ['http://a b', ''],
    ['http://[::1', ''],
  ])('rejects BaseUrl %j with Resource %j', (base, resource) => {
    expect(() => urlOf(base, resource)).toThrow(InputError);
  });

  it('names the parameter that is not a string', () => {
    expect(() => urlOf('http://api', '', { filter: { a: 1 } })).toThrow(/Parameters.*"filter"/);
    expect(() => urlOf('http://api', '', { filter: [[1]] })).toThrow(/Parameters.*"filter"/);
  });

  it('rejects URLs that are too long', () => {
    expect(() => urlOf('http://api', 'x'.repeat(20_000))).toThrow(/longer than/);
  });

  it('stays on the host and path of BaseUrl, whatever the resource and the parameters', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '@',
        '//',
        '\\',
        '..',
        '/',
        '?',
        '#',
        ':',
        '%2e',
        '%5c',
        '%00',
        '[',
        ']',
        '\t',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, (resource, value) => {
        let url: URL;
        try {
          url = buildRequestUrl({ baseUrl: 'https://api:444/v1', resource, parameters: { value } });
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
          return;
        }
        expect(url.origin).toBe('https://api:444');
        expect(url.username + url.password + url.hash).toBe('');
        expect(url.pathname === '/v1' || url.pathname.startsWith('/v1/')).toBe(true);
        expect(url.searchParams.getAll('value').at(-1)).toBe(
          value.replace(/\p{Surrogate}/gu, '\ufffd'),
        );
      }),
      propertyRuns(2000),
    );
  });
});
