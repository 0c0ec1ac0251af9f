/** HttpRequest steps and servers that misbehave: no answer, slow ones, and answers that are too large. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contextOf, failureOf, occurrence, useCalls, valuesOf } from './support/call.js';

const { serve, serveTcp, body } = useCalls();

describe('a response that is too large', () => {
  const cap = { responseBytesMax: 10_000 };

  it('keeps its status if it declares its length, and is not read', async () => {
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

  it('is cut off, and its connection closed, if it does not end', async () => {
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

  it('is cut off if it becomes too large by decompression', async () => {
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

  it('is accepted up to the limit', async () => {
    const server = await serve((_request, response) => response.end('x'.repeat(10_000)));
    const values = valuesOf(await body(cap).run({ BaseUrl: server.url }, contextOf()));
    expect(values['ResponseBody']).toHaveLength(10_000);
  });
});

describe('a misbehaving server', () => {
  it('refuses the connection: no response', async () => {
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

  it('does not exist: no response', async () => {
    const lookup = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
    };
    const values = valuesOf(
      await body({ lookup }).run({ BaseUrl: 'http://nowhere.test' }, contextOf()),
    );
    expect(values['ResponseCode']).toBe(0);
    expect(values['ErrorMessage']).toMatch(/the host was not found/);
  });

  it('leads to the time limit if it never responds, and the connection is closed', async () => {
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

  it("leads to the server's time limit if it never responds and the step has none", async () => {
    const server = await serveTcp((socket) => socket.resume());
    const values = valuesOf(
      await body({ timeoutMs: 100 }).run({ BaseUrl: server.url }, contextOf()),
    );
    expect(values['ErrorMessage']).toMatch(/longer than 100 ms/);
  });

  it('sends the body slowly: the time limit applies, and the status is kept', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(timer));
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url, Timeout: 0.3 }, contextOf()));
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: null, IsSuccessful: false });
    expect(values['ErrorMessage']).toMatch(/response arrived, but it took longer than 300 ms/);
  });

  it('sends a compressed body slowly: the time limit applies', async () => {
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

  it('sends the headers slowly: the time limit applies', async () => {
    const server = await serveTcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('X: 1\r\n'), 10);
      socket.on('close', () => clearInterval(timer));
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url, Timeout: 0.2 }, contextOf()));
    expect(values['ErrorMessage']).toMatch(/longer than 200 ms/);
  });

  it.each([
    ['closes the connection at once', '', 0, /closed before the response/],
    [
      'closes the connection within the headers',
      'HTTP/1.1 200 OK\r\nX-A: ',
      0,
      /closed before the response|HTTP/,
    ],
    [
      'closes the connection within the body',
      'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf',
      200,
      /response arrived, but the connection was closed/,
    ],
    [
      'closes the connection within a chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nha',
      200,
      /response arrived, but the connection was closed/,
    ],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 0, /not valid HTTP/],
    ['sends endless headers', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`, 0, /too large/],
    [
      'sends two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
      0,
      /does not match its Content-Length|not valid HTTP/,
    ],
  ])('leads to an error message if it %s', async (_name, bytes, code, message) => {
    const server = await serveTcp((socket) => {
      socket.once('data', () => socket.end(bytes));
    });
    const values = valuesOf(await body().run({ BaseUrl: server.url }, contextOf()));
    expect(values['ResponseCode']).toBe(code);
    expect(values['IsSuccessful']).toBe(false);
    expect(values['ErrorMessage']).toMatch(message);
  });

  it('sends early hints first: the final response counts', async () => {
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

  it('does not delay calls to other servers', async () => {
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

it('is asked again after the date of Retry-After, by the clock of the server', async () => {
  const server = await serve((_request, response) => {
    response.writeHead(503, { 'Retry-After': 'Sun, 06 Nov 1994 08:49:37 GMT' }).end();
  });
  const clock = { now: () => Date.parse('1994-11-06T08:48:07Z') };
  const inputs = { BaseUrl: server.url, SucceedOn: ['2xx'] };
  const result = await body({ clock }).run(inputs, contextOf());
  expect(result).toMatchObject({ ok: false, failure: { retryAfterMs: 90_000 } });
});
