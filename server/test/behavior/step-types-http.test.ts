/** HttpRequest, against a real server on this machine. */
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { useCallee } from './support/callee.js';
import { itFails } from './support/cases.js';
import { everyStore } from './support/every-store.js';
import { chain, mark, step } from './support/steps.js';

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const received: Received[] = [];

/** Responds as the path says: `/status/404`, `/text`, `/hang`, `/null`, `/broken`; anything else is echoed. */
const callee = useCallee((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { headers, method = '', url = '' } = request;
    const body = Buffer.concat(chunks).toString();
    received.push({ method, url, headers, body });
    const [, kind, value] = url.split('/');
    if (kind === 'hang') return;
    if (kind === 'status') response.statusCode = Number(value);
    response.setHeader('X-Answer', 'yes');
    response.setHeader('Content-Type', kind === 'text' ? 'text/plain' : 'application/json');
    if (kind === 'text') response.end('plain words');
    else if (kind === 'null') response.end('null');
    else if (kind === 'broken') response.end('{"half":');
    else response.end(JSON.stringify({ method, url, body }));
  });
});

const ALL_OUTPUTS = {
  code: 'step.ResponseCode',
  body: 'step.ResponseBody',
  ok: 'step.IsSuccessful',
  error: 'step.ErrorMessage',
  headers: 'step.ResponseHeaders',
};

everyStore('HttpRequest', (at) => {
  const call = async (inputs: Parameters<typeof step>[2], data = {}) => {
    const { data: result } = await at.client.run(
      chain(
        step('call', 'HttpRequest', { BaseUrl: 'data.base', ...inputs }, { Outputs: ALL_OUTPUTS }),
        mark('after'),
      ),
      { base: callee.url, ...data },
    );
    expect(result['trail']).toEqual(['after']);
    return result;
  };

  it('is a GET by default, and parses a JSON response', async () => {
    const result = await call({ Resource: '"/things/" + str(data.n)' }, { n: 7 });
    expect(result).toMatchObject({
      code: 200,
      ok: true,
      body: { method: 'GET', url: '/things/7', body: '' },
    });
    expect(result['headers']).toMatchObject({ 'x-answer': 'yes' });
    expect(result['error'] ?? '').toBe('');
  });

  it('sends method, query, headers and body, each with evaluated parts', async () => {
    const result = await call(
      {
        Resource: '"/orders"',
        Method: '"post"',
        Parameters: { plain: 'data.n', '@expand': 'data.n + 1' },
        Headers: { 'X-Plain': 'data.n', '@X-Evaluated': '"v" + str(data.n)' },
        Body: { kind: 'order', '@total': 'data.n * 2', lines: [{ '@price': 'data.n' }, 'data.n'] },
      },
      { n: 3 },
    );
    const { body, headers, method, url } = received.at(-1)!;
    expect(method).toBe('POST');
    expect(new URL(url, callee.url).searchParams.get('plain')).toBe('data.n');
    expect(new URL(url, callee.url).searchParams.get('expand')).toBe('4');
    expect(headers).toMatchObject({ 'x-plain': 'data.n', 'x-evaluated': 'v3' });
    expect(headers['content-type']).toMatch(/application\/json/);
    expect(JSON.parse(body)).toEqual({ kind: 'order', total: 6, lines: [{ price: 3 }, 'data.n'] });
    expect(result).toMatchObject({ code: 200, ok: true });
  });

  it.each([
    [404, false],
    [500, false],
    [302, false],
    [201, true],
  ])('returns %i as a result, not as an error', async (code, ok) => {
    expect(await call({ Resource: `"/status/${code}"` })).toMatchObject({ code, ok });
  });

  it('returns text unchanged, including invalid JSON', async () => {
    expect(await call({ Resource: '"/text"' })).toMatchObject({ code: 200, body: 'plain words' });
    expect(await call({ Resource: '"/broken"' })).toMatchObject({ code: 200, body: '{"half":' });
    expect(await call({ Resource: '"/null"' })).toMatchObject({ code: 200, body: null });
  });

  it('sets ResponseCode to 0 without a response, and reports the cause', async () => {
    const result = await call({ BaseUrl: '"http://127.0.0.1:1"' });
    expect(result).toMatchObject({ code: 0, ok: false });
    expect(result['error']).toMatch(/refused|connect/i);
  });

  it('gives up at its Timeout', async () => {
    const result = await call({ Resource: '"/hang"', Timeout: 0.2 });
    expect(result).toMatchObject({ code: 0, ok: false });
    expect(result['error']).toMatch(/longer than 200 ms/);
  });

  it('sends an id that stays the same when the same execution is repeated', async () => {
    const id = await at.client.defineAndStart(
      [step('call', 'HttpRequest', { BaseUrl: 'data.base', Resource: '"/key"' })],
      { base: callee.url },
    );
    await at.client.ended(id);
    const key = received.findLast(({ url }) => url === '/key')!.headers['idempotency-key'];
    expect(key).toContain(id);
  });

  describe('an HttpRequest with invalid inputs', () => {
    itFails(at, [
      {
        does: 'an invalid address',
        step: step('call', 'HttpRequest', { BaseUrl: '"not an address"' }),
        message: /BaseUrl/,
      },
      {
        does: 'an unknown method',
        step: step('call', 'HttpRequest', { BaseUrl: '"http://127.0.0.1:1"', Method: 'data.m' }),
        data: { m: 'SHOUT' },
        message: /Method/,
      },
      {
        does: 'an unsupported protocol',
        step: step('call', 'HttpRequest', { BaseUrl: '"file:///etc/passwd"' }),
        message: /BaseUrl|http/,
      },
    ]);
  });
});
