/**
 * S-16, S-17, S-18: what foreign pages can make a browser do, and what raw sockets can do to the server.
 * `process-limits.test.ts` tests what depends on the process around the application.
 */
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { mark, step } from '../behavior/support/steps.js';
import { serverForTests } from './support/secured-server.js';

const at = serverForTests();

/** The response to these bytes until the server closes the connection or the time is up. */
function talk(text: string, { waitMs = 15_000, more = '' } = {}): Promise<string> {
  const { port } = new URL(at.client.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1');
    let answer = '';
    const end = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(end, waitMs);
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
      if (more !== '') socket.write(more);
      more = '';
    });
    socket.on('error', end).on('close', end);
    socket.write(text);
  });
}

const statusLines = (answer: string): string[] => answer.match(/HTTP\/1\.1 \d{3}/g) ?? [];

describe('a page in a browser', () => {
  it('loads and runs only files from this server if it comes from it', async () => {
    const { headers, text } = await at.client.get('/swagger');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    // No script in the page, no file from another host.
    expect(text).not.toMatch(/<script(?![^>]* src="\/swagger\/)/);
    expect(text).not.toMatch(/(src|href)="(?!\/swagger\/)/);
    expect(text).not.toMatch(/ on\w+=/i);
  });

  it('receives user data as data, never as a page', async () => {
    const evil = '<script>alert(1)</script>';
    const id = await at.client.defineAndStart([mark('a')], { evil });
    const paths = [
      `/api/workflow/${id}`,
      `/api/definition/${encodeURIComponent(evil)}`,
      `/api/nothing/${encodeURIComponent(evil)}`,
      `/api/workflow?status=${encodeURIComponent(evil)}`,
    ];
    for (const path of paths) {
      for (const accept of ['text/html', '*/*', 'application/xhtml+xml']) {
        const answer = await at.client.call('GET', path, { headers: { accept } });
        expect(answer.headers.get('content-type'), path).toMatch(/^application\/(problem\+)?json/);
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      }
    }
  });

  it.each([
    ['OPTIONS', { 'access-control-request-method': 'POST' }],
    ['GET', {}],
    ['POST', { 'content-type': 'text/plain' }],
  ])('gets no permission through %s if it comes from another origin', async (method, extra) => {
    for (const path of ['/api/workflow', '/api/definition', '/api/info', '/metrics']) {
      const headers = { origin: 'https://evil.example', ...extra };
      const answer = await at.client.call(method, path, { headers });
      const granted = [...answer.headers.keys()].filter((name) => /^access-control/.test(name));
      expect(granted, path).toEqual([]);
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'posts no form from another origin as %s, which needs no preflight',
    async (type) => {
      const definition = await at.client.define([mark('a')]);
      const body = '{"a":1}';
      const calls = [`/api/workflow/${definition}`, '/api/definition', '/api/event/e/k'];
      for (const path of calls) {
        expect((await at.client.call('POST', path, { body, type })).status, path).toBe(415);
      }
    },
  );
});

describe('a raw socket', () => {
  it.each([
    [
      'two Content-Length headers',
      'POST /api/event/e/k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n{}',
    ],
    [
      'Content-Length and chunked encoding',
      'POST /api/event/e/k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n',
    ],
    [
      'a misspelled chunked encoding',
      'POST /api/event/e/k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
    ],
    ['a space before the colon', 'GET /api/info HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['a folded header', 'GET /api/info HTTP/1.1\r\nHost: localhost\r\nX: a\r\n  b\r\n\r\n'],
    [
      'a negative Content-Length',
      'POST /api/event/e/k HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
    ],
    [
      'a chunk of the wrong size',
      'POST /api/event/e/k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
    ],
    ['two Host headers', 'GET /api/info HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n'],
    [
      'two Host headers with one value',
      'GET /api/info HTTP/1.1\r\nHost: localhost\r\nhOST: localhost\r\n\r\n',
    ],
    [
      'two tokens',
      'GET /api/info HTTP/1.1\r\nHost: localhost\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n',
    ],
    [
      'two types of its body',
      'POST /api/event/e/k HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Type: application/yaml\r\nContent-Length: 2\r\n\r\n{}',
    ],
    ['no Host header', 'GET /api/info HTTP/1.1\r\n\r\n'],
    ['text that is not HTTP', '\u0016\u0003\u0001\u0000\r\n\r\n'],
    ['a long path', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
    [
      'long headers',
      `GET /api/info HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`,
    ],
  ])('is rejected once with %s, and smuggles in no second request', async (_what, text) => {
    const answer = await talk(text);
    expect(statusLines(answer).length).toBeLessThanOrEqual(1);
    expect(answer.slice(0, 12)).toMatch(/^HTTP\/1\.1 4\d\d$|^$/);
    expect(answer).not.toContain('smuggled');
    expect((await at.client.get('/health/live')).status).toBe(200);
  });

  it('pipelines requests: responses arrive in order', async () => {
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const answer = await talk(
      `${request('/health/live')}${request('/api/definition/none')}GET /api/info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(statusLines(answer)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  it('uses HTTP/1.0', async () => {
    expect(await talk('GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/);
  });

  it('gets a response to thousands of query parameters', async () => {
    const query = Array.from({ length: 2_000 }, (_, index) => `a${index}=1`).join('&');
    expect((await at.client.get(`/api/workflow?${query}`)).status).toBeLessThan(500);
  });

  it('delays no other client if it stalls within the headers or the body', async () => {
    const { port } = new URL(at.client.url);
    const halves = [
      'GET /api/info HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
      'POST /api/event/e/k HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"a":',
    ];
    const sockets = Array.from({ length: 200 }, (_, index) => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      socket.write(halves[index % 2]!);
      return socket;
    });
    await Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))),
    );
    expect((await at.client.run([step('a', 'NoOp')])).status).toBe('Complete');
    for (const socket of sockets) socket.destroy();
    expect((await at.client.get('/health/ready')).status).toBe(200);
  });
});
