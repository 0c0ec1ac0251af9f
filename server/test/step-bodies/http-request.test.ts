/**
 * HttpRequest steps against real servers on 127.0.0.1: what is sent, what becomes of the answer, and what becomes of
 * servers that misbehave.
 */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contextOf, failureOf, occurrence, useCalls, valuesOf } from './support/call.js';
import { createLogRecorder } from './support/log-recorder.js';

const { serve, serveTcp, body } = useCalls();

describe('what is sent', () => {
  const echo = () => serve((_request, response) => response.end());

  it('is a GET for JSON with the key of the execution, unless the inputs say otherwise', async () => {
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
    'can be a %s, in any casing',
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

  it('has the path of BaseUrl and Resource, and the parameters', async () => {
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

  it('has the headers of the author, also in place of ours', async () => {
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

  it('can be a form', async () => {
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

  it('has the body of a GET and a DELETE too', async () => {
    const server = await echo();
    for (const method of ['GET', 'DELETE']) {
      await body().run({ BaseUrl: server.url, Method: method, Body: { a: 1 } }, contextOf());
    }
    expect(server.requests.map((request) => request.body)).toEqual(['{"a":1}', '{"a":1}']);
  });
});

describe('wrong inputs', () => {
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
  ])('are a failure: %j', async (inputs, message) => {
    const failure = failureOf(await body().run(inputs, contextOf()));
    expect(failure.type).toBe('InputError');
    expect(failure.message).toMatch(message);
  });
});

describe('the answer', () => {
  it.each([200, 201, 204, 299])('%i is successful', async (status) => {
    const server = await serve((_request, response) => response.writeHead(status).end());
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: status, IsSuccessful: true, ErrorMessage: null });
    expect(values['ResponseBody']).toBeNull();
  });

  it.each([300, 304, 400, 404, 418, 500, 503])(
    '%i is a result that is not successful',
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

  it('is parsed where it is JSON, with the headers in lower case', async () => {
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

  it('stays text where it is text, or JSON with an integer that is too long', async () => {
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

  it('to a HEAD has no body, whatever its fields promise', async () => {
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

describe('an answer that is too large', () => {
  const cap = { responseBytesMax: 10_000 };

  it('keeps its code when it says how long it is, and is not read', async () => {
    const closed = occurrence();
    const server = await serve((_request, response) => {
      response.on('close', () => closed.happen());
      response.writeHead(200, { 'Content-Length': 100 * 1024 * 1024 });
      response.write('x'.repeat(1000));
    });
    const values = valuesOf(await body(cap).run({ BaseUrl: server.url }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: null, IsSuccessful: false });
    expect(values['ErrorMessage']).toMatch(/larger than 10000 bytes/);
    await closed.happened;
  });

  it('is cut off, and its connection closed, when it does not end', async () => {
    const closed = occurrence();
    const server = await serve((_request, response) => {
      response.on('close', () => closed.happen());
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', write);
      write();
    });
    const values = valuesOf(await body(cap).run({ BaseUrl: server.url }, contextOf()));
    expect(values['ErrorMessage']).toMatch(/larger than 10000 bytes/);
    await closed.happened;
  });

  it('is cut off when it becomes too large by decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(9_000_000));
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': bomb.length });
      response.end(bomb);
    });
    const values = valuesOf(await body(cap).run({ BaseUrl: server.url }, contextOf()));
    expect(bomb.length).toBeLessThan(10_000);
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: null });
    expect(values['ErrorMessage']).toMatch(/larger than 10000 bytes/);
  });

  it('is no trouble up to the limit', async () => {
    const server = await serve((_request, response) => response.end('x'.repeat(10_000)));
    const values = valuesOf(await body(cap).run({ BaseUrl: server.url }, contextOf()));
    expect(values['ResponseBody']).toHaveLength(10_000);
  });
});

describe('a server that misbehaves', () => {
  it('refuses the connection: no answer', async () => {
    const server = await serve((_request, response) => response.end());
    await server.close();
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values).toEqual({
      ResponseCode: 0,
      ResponseBody: null,
      IsSuccessful: false,
      ErrorMessage: `GET ${server.url}: the connection was refused (ECONNREFUSED)`,
      ResponseHeaders: {},
    });
  });

  it('does not exist: no answer', async () => {
    const lookup = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    };
    const values = valuesOf(
      await body({ lookup }).run({ BaseUrl: 'http://nowhere.test' }, contextOf()),
    );
    expect(values['ResponseCode']).toBe(0);
    expect(values['ErrorMessage']).toMatch(/the host was not found/);
  });

  it('never answers: no answer at the time limit, and its connection is closed', async () => {
    const closed = occurrence();
    const server = await serveTcp((socket) => {
      socket.on('close', () => closed.happen()).resume();
    });
    const before = performance.now();
    const values = valuesOf(
      await body().run({ BaseUrl: server.url, Timeout: 'PT0.2S' }, contextOf()),
    );
    const tookMs = performance.now() - before;
    expect(values).toMatchObject({ ResponseCode: 0, IsSuccessful: false });
    expect(values['ErrorMessage']).toMatch(/longer than 200 ms/);
    expect(tookMs).toBeGreaterThan(190);
    expect(tookMs).toBeLessThan(10_000);
    await closed.happened;
  });

  it('never answers: the time limit of the server holds where the step has none', async () => {
    const server = await serveTcp((socket) => socket.resume());
    const values = valuesOf(
      await body({ timeoutMs: 100 }).run({ BaseUrl: server.url }, contextOf()),
    );
    expect(values['ErrorMessage']).toMatch(/longer than 100 ms/);
  });

  it('trickles: the time limit holds, and the code is kept', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(timer));
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url, Timeout: 0.3 }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: null, IsSuccessful: false });
    expect(values['ErrorMessage']).toMatch(/response arrived, but it took longer than 300 ms/);
  });

  it('trickles a compressed body: the time limit holds', async () => {
    const closed = occurrence();
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' });
      response.on('close', () => closed.happen());
      response.write(gzipSync('hello').subarray(0, 15));
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url, Timeout: 0.2 }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: null });
    expect(values['ErrorMessage']).toMatch(/longer than 200 ms/);
    await closed.happened;
  });

  it('trickles its header fields: the time limit holds', async () => {
    const server = await serveTcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('X: 1\r\n'), 10);
      socket.on('close', () => clearInterval(timer));
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url, Timeout: 0.2 }, contextOf()));
    expect(values['ErrorMessage']).toMatch(/longer than 200 ms/);
  });

  it.each([
    ['closes at once', '', 0, /closed before the response/],
    ['closes within the fields', 'HTTP/1.1 200 OK\r\nX-A: ', 0, /closed before the response|HTTP/],
    [
      'closes within the body',
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf',
      200,
      /response arrived, but the connection was closed/,
    ],
    [
      'closes within a chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha',
      200,
      /response arrived, but the connection was closed/,
    ],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 0, /not valid HTTP/],
    ['sends endless fields', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`, 0, /too large/],
    [
      'says two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
      0,
      /does not match its Content-Length|not valid HTTP/,
    ],
  ])('%s', async (_name, bytes, code, message) => {
    const server = await serveTcp((socket) => {
      socket.once('data', () => socket.end(bytes));
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values['ResponseCode']).toBe(code);
    expect(values['IsSuccessful']).toBe(false);
    expect(values['ErrorMessage']).toMatch(message);
  });

  it('answers early hints first: the answer counts', async () => {
    const server = await serveTcp((socket) => {
      socket.once('data', () =>
        socket.end(
          'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
        ),
      );
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: 'ok' });
  });

  it('does not hold up calls to other servers', async () => {
    const stuck = await serveTcp((socket) => socket.resume());
    const good = await serve((_request, response) => response.end('ok'));
    const http = body({ connectionsPerHost: 2 });
    const controller = new AbortController();
    const waiting = Array.from({ length: 10 }, () =>
      http.run({ BaseUrl: stuck.url }, contextOf({ signal: controller.signal })),
    );
    const values = valuesOf(await http.run({ BaseUrl: good.url }, contextOf()));
    expect(values['ResponseBody']).toBe('ok');
    controller.abort();
    for (const result of await Promise.all(waiting)) {
      expect(failureOf(result).type).toBe('Aborted');
    }
  });
});

describe('redirects', () => {
  it('are followed, with method and body where the status keeps them', async () => {
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

  it('are followed five times and no more', async () => {
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

  it('take no credentials to another origin', async () => {
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

  it('count towards the time limit together', async () => {
    const server = await serve((_request, response) => {
      setTimeout(() => response.writeHead(302, { Location: '/' }).end(), 90);
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url, Timeout: 0.2 }, contextOf()));
    expect(values['ErrorMessage']).toMatch(/longer than 200 ms/);
    expect(server.requests.length).toBeLessThan(4);
  });
});

describe('many calls', () => {
  it('have at most so many under way at one host, and all get there', async () => {
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
      // The third one never comes while two are held: release when as many have come as can.
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

  it('use a connection again', async () => {
    const server = await serve((_request, response) => response.end('ok'));
    const http = body();
    for (let i = 0; i < 5; i += 1) valuesOf(await http.run({ BaseUrl: server.url }, contextOf()));
    // A call that follows at once may find the first connection not yet free.
    expect(server.connections).toBeLessThan(3);
  });
});

describe('a call whose result is unwanted', () => {
  it('ends at once as aborted while it waits for the answer', async () => {
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

  it('ends at once as aborted while it reads the answer', async () => {
    const size = 64 * 1024 * 1024;
    const readInPart = occurrence();
    const closed = occurrence();
    const server = await serveTcp((socket) => {
      socket.on('close', () => closed.happen());
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
        // More than the buffers between us hold: when this is gone, the caller has read a part of it.
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

  it('is not sent at all when it is unwanted from the start', async () => {
    const server = await serve((_request, response) => response.end());
    const signal = AbortSignal.abort();
    const result = await body().run({ BaseUrl: server.url }, contextOf({ signal }));
    expect(failureOf(result).type).toBe('Aborted');
    expect(server.connections).toBe(0);
  });

  it('ends as aborted when the body is closed, and so do later ones', async () => {
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
  it('notes at the start that inner addresses can be called, and only then', () => {
    const loose = createLogRecorder();
    body({ logger: loose.logger });
    expect(loose.lines).toHaveLength(1);
    expect(loose.lines[0]).toMatchObject({ level: 'info', fields: { allowLoopback: true } });
    const strict = createLogRecorder();
    body({ logger: strict.logger, allowLoopback: false, allowPrivate: false });
    expect(strict.lines).toEqual([]);
  });

  it('has a line for each call, without what may be secret', async () => {
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
