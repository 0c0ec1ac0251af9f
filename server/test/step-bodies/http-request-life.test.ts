/** HttpRequest steps beyond one call: redirects, many calls at once, calls that are aborted, and the log. */
import { describe, expect, it } from 'vitest';
import { contextOf, failureOf, occurrence, useCalls, valuesOf } from './support/call.js';
import { createLogRecorder } from './support/log-recorder.js';

const { serve, serveTcp, body } = useCalls();

describe('a redirect', () => {
  it('is followed, keeping method and body if the status says so', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/a') response.writeHead(308, { Location: '/b' }).end();
      else if (request.url === '/b') response.writeHead(303, { Location: 'c?d=1' }).end('ignored');
      else response.end('there');
    });
    const values = valuesOf(
      await body().run(
        { BaseUrl: server.url, Resource: 'a', Method: 'PUT', Body: { x: 1 } },
        contextOf(),
      ),
    );
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: 'there' });
    expect(server.requests.map(({ method, url, body: sent }) => [method, url, sent])).toEqual([
      ['PUT', '/a', '{"x":1}'],
      ['PUT', '/b', '{"x":1}'],
      ['GET', '/c?d=1', ''],
    ]);
  });

  it('is followed at most five times', async () => {
    const server = await serve((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(302, { Location: `/${left - 1}` }).end();
    });
    const five = valuesOf(await body().run({ BaseUrl: server.url, Resource: '5' }, contextOf()));
    expect(five).toMatchObject({ ResponseCode: 200, ResponseBody: 'there' });
    const six = valuesOf(await body().run({ BaseUrl: server.url, Resource: '6' }, contextOf()));
    expect(six).toMatchObject({ ResponseCode: 302, ResponseBody: null, IsSuccessful: false });
    expect(six['ErrorMessage']).toMatch(/more than 5 redirects/);
    expect(server.requests).toHaveLength(12);
  });

  it('passes no credentials to another origin', async () => {
    const target = await serve((_request, response) => response.end('there'));
    const server = await serve((_request, response) => {
      response.writeHead(307, { Location: `${target.url}/x` }).end();
    });
    const headers = { Authorization: 'Bearer x', Cookie: 'a=1', 'X-Api-Key': 'k', 'X-Other': '1' };
    await body().run(
      { BaseUrl: server.url, Method: 'POST', Headers: headers, Body: {} },
      contextOf(),
    );
    expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer x', cookie: 'a=1' });
    expect(Object.keys(target.requests[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'host',
      'idempotency-key',
      'user-agent',
    ]);
    expect(target.requests[0]?.headers.host).toBe(`127.0.0.1:${target.port}`);
  });

  it('shares one time limit with the others', async () => {
    const server = await serve((_request, response) => {
      setTimeout(() => response.writeHead(302, { Location: '/' }).end(), 90);
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url, Timeout: 0.2 }, contextOf()));
    expect(values['ErrorMessage']).toMatch(/longer than 200 ms/);
    expect(server.requests.length).toBeLessThan(4);
  });
});

describe('each of many calls', () => {
  it('waits until its host has a free connection, and succeeds', async () => {
    let underWay = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    const server = await serve((_request, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      waiting.push(() => {
        underWay -= 1;
        response.end('ok');
      });
      // The third one never arrives while two are held: release when as many have arrived as can.
      if (waiting.length === 2 || server.requests.length === 9) {
        setImmediate(() => waiting.splice(0).forEach((release) => release()));
      }
    });
    const http = body({ connectionsPerHost: 2 });
    const results = await Promise.all(
      Array.from({ length: 9 }, () => http.run({ BaseUrl: server.url, Timeout: 20 }, contextOf())),
    );
    expect(results.map((result) => valuesOf(result)['ResponseBody'])).toEqual(Array(9).fill('ok'));
    expect(most).toBe(2);
    expect(server.connections).toBe(2);
  });

  it('reuses a connection', async () => {
    const server = await serve((_request, response) => response.end('ok'));
    const http = body();
    for (let i = 0; i < 5; i += 1) valuesOf(await http.run({ BaseUrl: server.url }, contextOf()));
    // A call that follows at once may find the first connection still in use.
    expect(server.connections).toBeLessThan(3);
  });
});

describe('a call whose result is no longer needed', () => {
  it('ends at once as aborted while it waits for the response', async () => {
    const arrived = occurrence();
    const closed = occurrence();
    const server = await serveTcp((socket) => {
      socket.on('close', () => closed.happen());
      socket.once('data', () => arrived.happen());
    });
    const controller = new AbortController();
    const running = body().run({ BaseUrl: server.url }, contextOf({ signal: controller.signal }));
    await arrived.happened;
    controller.abort();
    expect(failureOf(await running).type).toBe('Aborted');
    await closed.happened;
  });

  it('ends at once as aborted while it reads the response', async () => {
    const size = 64 * 1024 * 1024;
    const readInPart = occurrence();
    const closed = occurrence();
    const server = await serveTcp((socket) => {
      socket.on('close', () => closed.happen());
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
        // More than the buffers in between hold: when this is sent, the caller has read a part of it.
        socket.write(Buffer.alloc(size / 2), () => readInPart.happen());
      });
    });
    const controller = new AbortController();
    const running = body({ responseBytesMax: size }).run(
      { BaseUrl: server.url },
      contextOf({ signal: controller.signal }),
    );
    await readInPart.happened;
    controller.abort();
    expect(failureOf(await running).type).toBe('Aborted');
    await closed.happened;
  });

  it('is not sent if its result is not needed from the start', async () => {
    const server = await serve((_request, response) => response.end());
    const signal = AbortSignal.abort();
    const result = await body().run({ BaseUrl: server.url }, contextOf({ signal }));
    expect(failureOf(result).type).toBe('Aborted');
    expect(server.connections).toBe(0);
  });

  it('ends as aborted when the step body is closed, as do later calls', async () => {
    const arrived = occurrence();
    const server = await serve(() => arrived.happen());
    const http = body();
    const running = http.run({ BaseUrl: server.url }, contextOf());
    await arrived.happened;
    await http.close();
    expect(failureOf(await running).type).toBe('Aborted');
    const later = await http.run({ BaseUrl: server.url }, contextOf());
    expect(failureOf(later).type).toBe('Aborted');
    await http.close();
  });
});

describe('the log', () => {
  it('warns at the start if internal addresses can be called, and only then', () => {
    const loose = createLogRecorder();
    body({ logger: loose.logger });
    expect(loose.lines).toHaveLength(1);
    expect(loose.lines[0]).toMatchObject({ level: 'info', fields: { allowLoopback: true } });
    const strict = createLogRecorder();
    body({ logger: strict.logger, allowLoopback: false, allowPrivate: false });
    expect(strict.lines).toEqual([]);
  });

  it('has a line for each call, without possible secrets', async () => {
    const server = await serve((_request, response) => response.end());
    const { lines, logger } = createLogRecorder();
    await body({ logger }).run(
      {
        BaseUrl: server.url,
        Resource: 'secret1',
        Parameters: { code: 'secret2' },
        Headers: { Authorization: 'secret3' },
      },
      contextOf(),
    );
    expect(lines.at(-1)).toMatchObject({
      level: 'debug',
      fields: { workflowId: 'w1', stepId: 'call', method: 'GET', statusCode: 200 },
    });
    expect(JSON.stringify(lines)).not.toMatch(/secret/);
  });
});
