/** How a body becomes the value that the host gets: media types, limits, emptiness, and data that is left as it was. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  problemOf,
  startApi,
  type ApiServer,
  type ApiServerOptions,
} from '../support/api-server.js';

function startEventApi(options: ApiServerOptions = {}): Promise<ApiServer> {
  return startApi({
    host: { 'events.publish': async () => ({ id: 'e1', deliveredTo: 0 }) },
    ...options,
  });
}

function publishedData(api: ApiServer): unknown {
  return (api.calls[0]!.args[0] as { data: unknown }).data;
}

describe('media types', () => {
  it.each([
    ['application/json', '{"a":1}'],
    ['application/json; charset=utf-8', '{"a":1}'],
    ['application/json;charset="UTF-8"', '{"a":1}'],
    ['Application/JSON', '{"a":1}'],
    ['text/json', '{"a":1}'],
    ['application/vnd.own.thing+json', '{"a":1}'],
    ['application/yaml', 'a: 1'],
    ['application/x-yaml; charset=utf-8', 'a: 1'],
    ['text/yaml', 'a: 1'],
  ])('takes %s', async (type, body) => {
    const api = await startEventApi();
    const response = await api.post('/api/event/paid/7', body, type);
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ id: 'e1', deliveredTo: 0 });
    expect(publishedData(api)).toEqual({ a: 1 });
  });

  it.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'text/x-python',
    'application/json; charset=utf-16',
    'application/jsonp',
    'constructor',
    null,
  ])('refuses %s', async (type) => {
    const api = await startEventApi();
    const response = await api.post('/api/event/paid/7', '{"a":1}', type);
    expect(response.status).toBe(415);
    expect(await problemOf(response)).toMatchObject({ code: 'unsupported_media_type' });
    expect(api.calls).toEqual([]);
  });

  it('refuses a compressed body without unpacking it', async () => {
    const api = await startEventApi();
    const response = await api.fetch('/api/event/paid/7', {
      method: 'POST',
      body: gzipSync('{"a":1}'),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect(response.status).toBe(415);
  });
});

describe('values', () => {
  it.each([
    ['null', null],
    ['5', 5],
    ['"text"', 'text'],
    ['false', false],
    ['[1,[2]]', [1, [2]]],
    ['{}', {}],
  ])('passes the JSON %s on', async (body, value) => {
    const api = await startEventApi();
    expect((await api.post('/api/event/paid/7', body, 'application/json')).status).toBe(202);
    expect(publishedData(api)).toEqual(value);
  });

  it.each([
    ['null', null],
    ['2026-05-04', '2026-05-04'],
    ['- 1\n- b', [1, 'b']],
  ])('passes the YAML %j on', async (body, value) => {
    const api = await startEventApi();
    expect((await api.post('/api/event/paid/7', body, 'application/yaml')).status).toBe(202);
    expect(publishedData(api)).toEqual(value);
  });

  it('leaves own __proto__ members, casing and order alone', async () => {
    const api = await startEventApi();
    const body = '{"b":1,"A":{"__proto__":{"x":[1]},"constructor":{"prototype":{}}},"a":2}';
    await api.post('/api/event/paid/7', body, 'application/json');
    expect(JSON.stringify(publishedData(api))).toBe(body);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('skips a byte order mark', async () => {
    const api = await startEventApi();
    await api.post('/api/event/paid/7', '\uFEFF{"a":1}', 'application/json');
    expect(publishedData(api)).toEqual({ a: 1 });
  });

  it('says where JSON is broken', async () => {
    const api = await startEventApi();
    const response = await api.post('/api/event/paid/7', '{\n "a": tru}', 'application/json');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      code: 'unreadable_body',
      line: 2,
      column: 7,
    });
  });

  it('says where YAML is broken', async () => {
    const api = await startEventApi();
    const response = await api.post('/api/event/paid/7', 'a: 1\na: 2', 'application/yaml');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      code: 'unreadable_body',
      line: 2,
      column: 1,
    });
  });

  it('refuses what is not UTF-8', async () => {
    const api = await startEventApi();
    const body = Uint8Array.of(0x22, 0xc3, 0x28, 0x22);
    const response = await api.post('/api/event/paid/7', body, 'application/json');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ detail: 'The body is not valid UTF-8' });
  });

  it.each(['', '  \n'])('refuses the empty event %j', async (body) => {
    const api = await startEventApi();
    const response = await api.post('/api/event/paid/7', body, 'application/json');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'unreadable_body' });
  });
});

describe('sizes', () => {
  const limits = { bodyBytesMax: 1_000, yamlBytesMax: 500, scriptBytesMax: 300 };

  it('takes a body of exactly the limit and refuses one byte more', async () => {
    const api = await startEventApi({ limits });
    const atLimit = JSON.stringify('x'.repeat(998));
    expect((await api.post('/api/event/paid/7', atLimit, 'application/json')).status).toBe(202);
    const above = await api.post('/api/event/paid/7', ` ${atLimit}`, 'application/json');
    expect(above.status).toBe(413);
    expect(await problemOf(above)).toMatchObject({ code: 'body_too_large', bytesMax: 1_000 });
  });

  it('has smaller limits for YAML and for scripts', async () => {
    const api = await startEventApi({ limits });
    const text = 'x'.repeat(600);
    expect((await api.post('/api/event/paid/7', text, 'application/yaml')).status).toBe(413);
    expect((await api.post('/api/step/add', text, 'text/x-python')).status).toBe(413);
  });

  it('answers a body that it will not read, then closes the connection', async () => {
    const api = await startEventApi({ limits });
    const answer = await rawExchange(api.port, [
      'POST /api/event/paid/7 HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Content-Length: 100000000',
      '',
      '{"a":',
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).toContain('"code":"body_too_large"');
  });

  it('stops reading a body without a length at the limit', async () => {
    const api = await startEventApi({ limits });
    const chunk = '{'.repeat(256);
    const answer = await rawExchange(api.port, [
      'POST /api/event/paid/7 HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      '',
      ...Array.from({ length: 20 }, () => `100\r\n${chunk}`),
      '',
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/connection: close/i);
  });

  it('can be told by a client that sends all of a large body first', async () => {
    const api = await startEventApi({ limits });
    const body = 'x'.repeat(5_000_000);
    const response = await api.post('/api/event/paid/7', body, 'application/json');
    expect(response.status).toBe(413);
  });

  it('keeps the connection after a small body that was not read', async () => {
    const api = await startEventApi({ limits });
    const request = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    const answer = await rawExchange(api.port, [
      `${request('/api/nothing')}${request('/api/event/a/b').replace('Host: localhost', 'Host: localhost\r\nConnection: close')}`,
    ]);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 202']);
  });
});

describe('a caller that hangs up in the middle of a body', () => {
  it('disturbs nobody else', async () => {
    const api = await startEventApi();
    const socket = connect(api.port, '127.0.0.1', () =>
      socket.write(
        'POST /api/event/a/b HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/json\r\nContent-Length: 9\r\n\r\n{"a"',
      ),
    );
    await once(api.server, 'request');
    socket.destroy();
    await once(socket, 'close');
    expect((await api.post('/api/event/a/b', '1', 'application/json')).status).toBe(202);
    expect(api.calls).toHaveLength(1);
    expect(api.logLines).toEqual([]);
  });
});

/** What a server answers to these lines until it ends the connection. */
function rawExchange(port: number, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(lines.join('\r\n')));
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => (answer += text));
    socket.on('end', () => socket.end());
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
