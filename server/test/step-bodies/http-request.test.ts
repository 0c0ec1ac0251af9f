/** HttpRequest steps against real servers on 127.0.0.1: what is sent, and the result that the answer becomes. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contextOf, failureOf, useCalls, valuesOf } from './support/call.js';

const { serve, body } = useCalls();

describe('an HTTP request', () => {
  const echo = () => serve((_request, response) => response.end());

  it('is a GET that accepts JSON, with the key of the execution, unless the inputs differ', async () => {
    const server = await echo();
    await body().run({ BaseUrl: server.url }, contextOf());
    expect(server.requests[0]).toMatchObject({ method: 'GET', url: '/', body: '' });
    expect(server.requests[0]?.headers).toEqual({
      accept: 'application/json, */*;q=0.8',
      'accept-encoding': 'gzip, br',
      connection: 'keep-alive',
      host: `127.0.0.1:${server.port}`,
      'idempotency-key': 'w1/7/1',
      'user-agent': 'stepwright',
    });
  });

  it.each(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'MERGE', 'COPY'])(
    'has the method %s, in any casing',
    async (method) => {
      const server = await echo();
      const spelled = method.charAt(0) + method.slice(1).toLowerCase();
      const values = valuesOf(
        await body().run({ BaseUrl: server.url, Method: spelled }, contextOf()),
      );
      expect(values['ResponseCode']).toBe(200);
      expect(server.requests[0]?.method).toBe(method);
    },
  );

  it('combines BaseUrl, Resource and the parameters', async () => {
    const server = await echo();
    await body().run(
      {
        BaseUrl: `${server.url}/v1/`,
        Resource: '/orders?open=true',
        Parameters: { id: [1, 2], name: 'a b', none: null },
      },
      contextOf(),
    );
    expect(server.requests[0]?.url).toBe('/v1/orders?open=true&id=1&id=2&name=a%20b');
  });

  it('has the headers of the author, which can replace the default ones', async () => {
    const server = await echo();
    const headers = { 'IDEMPOTENCY-KEY': 'mine', Accept: 'text/csv', 'X-N': 1, 'X-B': false };
    await body().run({ BaseUrl: server.url, Headers: headers }, contextOf());
    expect(server.requests[0]?.headers).toMatchObject({
      'idempotency-key': 'mine',
      accept: 'text/csv',
      'x-n': '1',
      'x-b': 'false',
    });
  });

  it.each([
    [{ a: 1 }, 'Json', '{"a":1}', 'application/json'],
    [[1, null], 'json', '[1,null]', 'application/json'],
    [5, 'Json', '5', 'application/json'],
    [false, 'Json', 'false', 'application/json'],
    ['{"a":1}', 'Json', '{"a":1}', 'application/json'],
    ['<a>ü</a>', 'XML', '<a>ü</a>', 'application/xml'],
    ['text', 'None', 'text', undefined],
    [{ a: 1 }, 'None', '{"a":1}', undefined],
    ['', 'Json', '', 'application/json'],
    [null, 'Json', '', undefined],
  ])('has the body %j in the format %s', async (value, format, sent, contentType) => {
    const server = await echo();
    await body().run(
      { BaseUrl: server.url, Method: 'POST', Body: value, Format: format },
      contextOf(),
    );
    expect(server.requests[0]?.body).toBe(sent);
    expect(server.requests[0]?.headers['content-type']).toBe(contentType);
    expect(server.requests[0]?.headers['content-length']).toBe(String(Buffer.byteLength(sent)));
  });

  it('sends a form', async () => {
    const server = await echo();
    await body().run(
      {
        BaseUrl: server.url,
        Method: 'POST',
        Headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        Body: { grant_type: 'client_credentials', scope: ['a b', 'c&d'] },
      },
      contextOf(),
    );
    expect(server.requests[0]?.body).toBe('grant_type=client_credentials&scope=a%20b&scope=c%26d');
  });

  it('has a body with GET and DELETE too', async () => {
    const server = await echo();
    for (const method of ['GET', 'DELETE']) {
      await body().run({ BaseUrl: server.url, Method: method, Body: { a: 1 } }, contextOf());
    }
    expect(server.requests.map((request) => request.body)).toEqual(['{"a":1}', '{"a":1}']);
  });
});

describe('an invalid input', () => {
  it.each([
    [{}, /BaseUrl is missing/],
    [{ BaseUrl: 'api' }, /BaseUrl/],
    [{ BaseUrl: null }, /BaseUrl/],
    [{ BaseUrl: 'http://api', Resource: '\\evil' }, /Resource/],
    [{ BaseUrl: 'http://api', Resource: {} }, /Resource/],
    [{ BaseUrl: 'http://api', Method: 'BREW' }, /Method: expected one of GET/],
    [{ BaseUrl: 'http://api', Method: 'GET / HTTP/1.1\r\nX: y' }, /Method/],
    [{ BaseUrl: 'http://api', Headers: 'x' }, /Headers/],
    [{ BaseUrl: 'http://api', Headers: { a: 'x\r\nb: y' } }, /Headers/],
    [{ BaseUrl: 'http://api', Headers: { Host: 'evil' } }, /Headers/],
    [{ BaseUrl: 'http://api', Parameters: [1] }, /Parameters/],
    [{ BaseUrl: 'http://api', Format: 'Yaml' }, /Format/],
    [{ BaseUrl: 'http://api', Format: 'Xml', Body: { a: 1 } }, /Body/],
    [
      {
        BaseUrl: 'http://api',
        Headers: { 'content-type': 'application/x-www-form-urlencoded' },
        Body: [1],
      },
      /Body/,
    ],
    [{ BaseUrl: 'http://api', Timeout: 'soon' }, /Timeout/],
    [{ BaseUrl: 'http://api', Timeout: 0 }, /Timeout/],
    [{ BaseUrl: 'http://api', Timeout: -1 }, /Timeout/],
  ])('fails the step: %j', async (inputs, message) => {
    const failure = failureOf(await body().run(inputs, contextOf()));
    expect(failure.type).toBe('InputError');
    expect(failure.message).toMatch(message);
  });
});

describe('an HTTP response', () => {
  it.each([200, 201, 204, 299])('is successful with status %i', async (status) => {
    const server = await serve((_request, response) => response.writeHead(status).end());
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: status, IsSuccessful: true, ErrorMessage: null });
    expect(values['ResponseBody']).toBeNull();
  });

  it.each([300, 304, 400, 404, 418, 500, 503])(
    'is a result with status %i, but not successful',
    async (status) => {
      const server = await serve((_request, response) => response.writeHead(status).end());
      const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
      expect(values).toMatchObject({
        ResponseCode: status,
        IsSuccessful: false,
        ErrorMessage: null,
      });
    },
  );

  it('is parsed if it is JSON, and has header names in lower case', async () => {
    const server = await serve((_request, response) => {
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      response.setHeader('X-Rate', '5');
      response.setHeader('Set-Cookie', 'a=1, 2');
      response.setHeader('Vary', ['a', 'b']);
      response.writeHead(422).end('{"errors":[{"field":"ü"}]}');
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values).toMatchObject({
      ResponseCode: 422,
      ResponseBody: { errors: [{ field: 'ü' }] },
      ResponseHeaders: {
        'content-type': 'application/json; charset=utf-8',
        'x-rate': '5',
        'set-cookie': ['a=1, 2'],
        vary: 'a, b',
      },
    });
  });

  it('stays a string if it is text, or JSON with an integer that is too long', async () => {
    const text = `{"id":${'9'.repeat(1001)}}`;
    const server = await serve((request, response) => {
      response.setHeader('Content-Type', request.url === '/t' ? 'text/plain' : 'application/json');
      response.end(text);
    });
    for (const Resource of ['t', 'j']) {
      const values = valuesOf(await body().run({ BaseUrl: server.url, Resource }, contextOf()));
      expect(values['ResponseBody']).toBe(text);
    }
  });

  it('is decompressed', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
      response.end(gzipSync('{"a":1}'));
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values['ResponseBody']).toEqual({ a: 1 });
  });

  it('has no body for HEAD, whatever its headers say', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Encoding': 'gzip',
        'Content-Length': 999_999_999,
      });
      response.end();
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url, Method: 'HEAD' }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: null, ErrorMessage: null });
  });
});
