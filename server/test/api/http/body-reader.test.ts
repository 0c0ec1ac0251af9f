/**
 * How a body becomes the value that the host gets: media types, limits, empty bodies, and data that must not change.
 */
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

describe('the media type of a body', () => {
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
  ])('is accepted as %s', async (type, body) => {
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
  ])('is rejected if it is %s', async (type) => {
    const api = await startEventApi();
    const response = await api.post('/api/event/paid/7', '{"a":1}', type);
    expect(response.status).toBe(415);
    expect(await problemOf(response)).toMatchObject({ code: 'unsupported_media_type' });
    expect(api.calls).toEqual([]);
  });

  it('is checked first: a compressed body is rejected without being decompressed', async () => {
    const api = await startEventApi();
    const response = await api.fetch('/api/event/paid/7', {
      method: 'POST',
      body: gzipSync('{"a":1}'),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect(response.status).toBe(415);
  });
});

describe('the value of a body', () => {
  it.each([
    ['null', null],
    ['5', 5],
    ['"text"', 'text'],
    ['false', false],
    ['[1,[2]]', [1, [2]]],
    ['{}', {}],
  ])('is accepted as the JSON %s', async (body, value) => {
    const api = await startEventApi();
    expect((await api.post('/api/event/paid/7', body, 'application/json')).status).toBe(202);
    expect(publishedData(api)).toEqual(value);
  });

  it.each([
    ['null', null],
    ['2026-05-04', '2026-05-04'],
    ['- 1\n- b', [1, 'b']],
  ])('is accepted as the YAML %j', async (body, value) => {
    const api = await startEventApi();
    expect((await api.post('/api/event/paid/7', body, 'application/yaml')).status).toBe(202);
    expect(publishedData(api)).toEqual(value);
  });

  it('keeps own __proto__ members, casing and order', async () => {
    const api = await startEventApi();
    const body = '{"b":1,"A":{"__proto__":{"x":[1]},"constructor":{"prototype":{}}},"a":2}';
    await api.post('/api/event/paid/7', body, 'application/json');
    expect(JSON.stringify(publishedData(api))).toBe(body);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('is read after a byte order mark', async () => {
    const api = await startEventApi();
    await api.post('/api/event/paid/7', '\uFEFF{"a":1}', 'application/json');
    expect(publishedData(api)).toEqual({ a: 1 });
  });

  it('is rejected with the position of a JSON syntax error', async () => {
    const api = await startEventApi();
    const response = await api.post('/api/event/paid/7', '{\n "a": tru}', 'application/json');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      code: 'unreadable_body',
      line: 2,
      column: 7,
    });
  });

  it('is rejected with the position of a YAML syntax error', async () => {
    const api = await startEventApi();
    const response = await api.post('/api/event/paid/7', 'a: 1\na: 2', 'application/yaml');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      code: 'unreadable_body',
      line: 2,
      column: 1,
    });
  });

  it('is rejected if it is not UTF-8', async () => {
    const api = await startEventApi();
    const body = Uint8Array.of(0x22, 0xc3, 0x28, 0x22);
    const response = await api.post('/api/event/paid/7', body, 'application/json');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ detail: 'The body is not valid UTF-8' });
  });

  it.each(['', '  \n'])('is rejected if the body of an event is empty: %j', async (body) => {
    const api = await startEventApi();
    const response = await api.post('/api/event/paid/7', body, 'application/json');
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'unreadable_body' });
  });
});

describe('the size of a body', () => {
  const limits = { bodyBytesMax: 1_000, yamlBytesMax: 500, scriptBytesMax: 300 };

  it('is accepted up to exactly the limit', async () => {
    const api = await startEventApi({ limits });
    const atLimit = JSON.stringify('x'.repeat(998));
    expect((await api.post('/api/event/paid/7', atLimit, 'application/json')).status).toBe(202);
    const above = await api.post('/api/event/paid/7', ` ${atLimit}`, 'application/json');
    expect(above.status).toBe(413);
    expect(await problemOf(above)).toMatchObject({ code: 'body_too_large', bytesMax: 1_000 });
  });

  it('has lower limits for YAML and for scripts', async () => {
    const api = await startEventApi({ limits });
    const text = 'x'.repeat(600);
    expect((await api.post('/api/event/paid/7', text, 'application/yaml')).status).toBe(413);
    expect((await api.post('/api/step/add', text, 'text/x-python')).status).toBe(413);
  });

  it('is rejected before the rest is read, and the connection is closed', async () => {
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

  it('is limited while reading a body without a Content-Length', async () => {
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

  it('is rejected with a response that reaches a client that first sends all of a large body', async () => {
    const api = await startEventApi({ limits });
    const body = 'x'.repeat(5_000_000);
    const response = await api.post('/api/event/paid/7', body, 'application/json');
    expect(response.status).toBe(413);
  });

  it('does not cost the connection if a small body was not read', async () => {
    const api = await startEventApi({ limits });
    const request = (path: string) =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    const answer = await rawExchange(api.port, [
      `${request('/api/nothing')}${request('/api/event/a/b').replace('Host: localhost', 'Host: localhost\r\nConnection: close')}`,
    ]);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 202']);
  });
});

describe('a client that disconnects during a body', () => {
  it('does not affect others', async () => {
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

/** Returns what a server responds to these lines until it closes the connection. */
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

describe('a large body that arrives together with others (BR1)', () => {
  const COUNT = 12;
  const item = '{"name":"a","amount":12.5,"tags":["x","y"]}';
  const json = `[${Array.from({ length: 3000 }, () => item).join(',')}]`;

  /** Sends all but the last byte of each, then all last bytes at once. */
  async function sendAtOnce(api: ApiServer, body: string, type: string): Promise<void> {
    const { port } = new URL(api.url);
    const sockets = await Promise.all(
      Array.from({ length: COUNT }, async () => {
        const socket = connect(Number(port), '127.0.0.1');
        const head = `POST /api/event/paid/7 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
        await new Promise((resolve) => socket.write(head + body.slice(0, -1), resolve));
        return socket;
      }),
    );
    // What was sent has been read when each has answered to the rest.
    const answers = sockets.map(async (socket) => (await once(socket, 'data')) as [Buffer]);
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
    for (const socket of sockets) socket.write(body.slice(-1));
    for (const [answer] of await Promise.all(answers)) {
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 202 /);
    }
    for (const socket of sockets) socket.destroy();
  }

  it.each([
    ['JSON', json, 'application/json'],
    ['YAML', `- name: a\n  amount: 12.5\n`.repeat(150), 'application/yaml'],
  ])('is read alone in its turn of the event loop: %s', async (_format, body, type) => {
    let turn = 0;
    let isCounting = true;
    const count = (): void => {
      turn += 1;
      if (isCounting) setImmediate(count);
    };
    const turns: number[] = [];
    const api = await startApi({
      host: {
        'events.publish': async () => {
          turns.push(turn);
          return { id: 'e1', deliveredTo: 0 };
        },
      },
    });
    setImmediate(count);
    await sendAtOnce(api, body, type);
    isCounting = false;
    expect(turns).toHaveLength(COUNT);
    expect(new Set(turns).size).toBe(COUNT);
  });
});
