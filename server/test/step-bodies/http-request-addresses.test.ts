/**
 * Which addresses HttpRequest steps can reach: a function of the test resolves names, so that private and metadata
 * addresses, and names that change their address, are tested without a network. The permitted servers are on 127.0.0.1.
 */
import { describe, expect, it } from 'vitest';
import type { AddressLookup } from '../../src/step-bodies/http-request/pinned-connector.js';
import { contextOf, failureOf, occurrence, useCalls, valuesOf } from './support/call.js';

const { serve, body } = useCalls();

/** Returns the lists one after another; the last one stays. */
function lookupOf(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const lookup: AddressLookup = async (hostname) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  return { asked, lookup };
}

describe('an address in BaseUrl', () => {
  it.each([
    ['http://169.254.169.254', /link-local/],
    ['http://[fd00:ec2::254]', /metadata/],
    ['http://[fe80::1]', /link-local/],
    ['http://0.0.0.0:80', /reserved/],
    ['http://[::]', /reserved/],
    ['http://[::ffff:169.254.169.254]', /link-local/],
    ['http://2852039166', /link-local/],
    ['http://0251.0376.0251.0376', /link-local/],
    ['http://metadata.google.internal', /metadata/],
  ])('is rejected with the most permissive policy: %s', async (url, message) => {
    const failure = failureOf(await body().run({ BaseUrl: url }, contextOf()));
    expect(failure.type).toBe('AddressRefused');
    expect(failure.message).toMatch(message);
  });

  it('is rejected on this machine by a setting, before anything is sent', async () => {
    const server = await serve((_request, response) => response.end());
    const http = body({ allowLoopback: false });
    const { port } = server;
    for (const host of ['127.0.0.1', '[::1]', '127.1', '0x7f000001', '[::ffff:127.0.0.1]']) {
      const result = await http.run({ BaseUrl: `http://${host}:${port}` }, contextOf());
      expect(failureOf(result).type).toBe('AddressRefused');
    }
    const named = await http.run({ BaseUrl: `http://localhost:${port}` }, contextOf());
    expect(failureOf(named).message).toMatch(/localhost may not be called: .* loopback/);
    expect(server.connections).toBe(0);
  });
});

describe('a host name', () => {
  it.each(['169.254.169.254', 'fd00:ec2::254', '0.0.0.0', 'fe80::1%1', '::ffff:a9fe:a9fe'])(
    'is rejected with the most permissive policy if it resolves to %s',
    async (address) => {
      const { lookup } = lookupOf([address]);
      const failure = failureOf(
        await body({ lookup }).run({ BaseUrl: 'http://a.test' }, contextOf()),
      );
      expect(failure.type).toBe('AddressRefused');
      expect(failure.message).toMatch(/^a\.test may not be called/);
    },
  );

  it.each(['10.0.0.1', '192.168.0.1', '100.64.0.1', 'fd00::1', '::ffff:10.0.0.1'])(
    'is rejected by a setting if it resolves to the private address %s',
    async (address) => {
      const { lookup } = lookupOf([address]);
      const result = await body({ lookup, allowPrivate: false }).run(
        { BaseUrl: 'https://a.test' },
        contextOf(),
      );
      expect(failureOf(result).type).toBe('AddressRefused');
    },
  );

  it('is called at one of its allowed addresses', async () => {
    const server = await serve((_request, response) => response.end('ok'));
    const { lookup } = lookupOf(['10.0.0.1', 'fe80::1', '127.0.0.1']);
    const values = valuesOf(
      await body({ lookup, allowPrivate: false }).run(
        { BaseUrl: `http://a.test:${server.port}` },
        contextOf(),
      ),
    );
    expect(values['ResponseBody']).toBe('ok');
    expect(server.requests[0]?.headers.host).toBe(`a.test:${server.port}`);
  });

  it('gives no response without an address', async () => {
    const { lookup } = lookupOf([]);
    const values = valuesOf(await body({ lookup }).run({ BaseUrl: 'http://a.test' }, contextOf()));
    expect(values['ResponseCode']).toBe(0);
    expect(values['ErrorMessage']).toMatch(/a\.test has no address/);
  });

  it('is checked once per connection if it changes its address between two', async () => {
    const server = await serve((_request, response) => {
      response.setHeader('Connection', 'close').end('ok');
    });
    const { lookup, asked } = lookupOf(['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']);
    const http = body({ lookup });
    const inputs = { BaseUrl: `http://a.test:${server.port}` };
    expect(valuesOf(await http.run(inputs, contextOf()))['ResponseBody']).toBe('ok');
    expect(failureOf(await http.run(inputs, contextOf())).type).toBe('AddressRefused');
    expect(valuesOf(await http.run(inputs, contextOf()))['ResponseBody']).toBe('ok');
    // One lookup for each connection: a second one could return another address.
    expect(asked).toEqual(['a.test', 'a.test', 'a.test']);
    expect(server.connections).toBe(2);
  });

  it('is allowed or denied by the lists', async () => {
    const server = await serve((_request, response) => response.end('ok'));
    const { lookup, asked } = lookupOf(['127.0.0.1']);
    const http = body({ lookup, allowHosts: ['*.good.test'], denyHosts: ['bad.good.test'] });
    const run = (host: string) =>
      http.run({ BaseUrl: `http://${host}:${server.port}` }, contextOf());
    expect(valuesOf(await run('api.good.test'))['ResponseBody']).toBe('ok');
    expect(failureOf(await run('bad.good.test')).message).toMatch(/denied/);
    expect(failureOf(await run('evil.test')).message).toMatch(/not on the list/);
    expect(asked).toEqual(['api.good.test']);
  });
});

describe('a redirect', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://2852039166/',
    '//metadata.google.internal/',
    'http://inner.test/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_x',
  ])('is rejected if it leads to %s', async (location) => {
    const server = await serve((_request, response) => {
      response.writeHead(302, { Location: location }).end();
    });
    const lookup: AddressLookup = async (hostname) => [
      { address: hostname === 'inner.test' ? '169.254.169.254' : '127.0.0.1', family: 4 },
    ];
    const result = await body({ lookup }).run(
      { BaseUrl: `http://outer.test:${server.port}` },
      contextOf(),
    );
    expect(failureOf(result).type).toBe('AddressRefused');
    expect(server.requests).toHaveLength(1);
  });

  it('is not read to its end, whether it is followed or rejected', async () => {
    const target = await serve((_request, response) => response.end('there'));
    for (const location of ['http://169.254.169.254/', target.url]) {
      const closed = occurrence();
      const server = await serve((_request, response) => {
        response.on('close', () => closed.happen());
        response.writeHead(302, { Location: location }).write('and so on');
      });
      await body().run({ BaseUrl: server.url }, contextOf());
      await closed.happened;
    }
    expect(target.requests).toHaveLength(1);
  });

  it('is not read to its end if it leads to a scheme other than HTTP', async () => {
    const closed = occurrence();
    const server = await serve((_request, response) => {
      response.on('close', () => closed.happen());
      response.writeHead(302, { Location: 'file:///etc/passwd' }).write('and so on');
    });
    const result = await body().run({ BaseUrl: server.url }, contextOf());
    expect(failureOf(result).message).toMatch(/redirects to file:/);
    await closed.happened;
  });

  it('is rejected if it leads to a host that is not on the list', async () => {
    const target = await serve((_request, response) => response.end());
    const server = await serve((_request, response) => {
      response.writeHead(302, { Location: target.url }).end();
    });
    const { lookup } = lookupOf(['127.0.0.1']);
    const result = await body({ lookup, allowHosts: ['good.test'] }).run(
      { BaseUrl: `http://good.test:${server.port}` },
      contextOf(),
    );
    expect(failureOf(result).message).toMatch(/127\.0\.0\.1 is not on the list/);
    expect(target.connections).toBe(0);
  });

  it('is rejected by a setting if it leads to a private address behind a public name', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(307, { Location: 'http://inner.test/' }).end();
    });
    const lookup: AddressLookup = async (hostname) => [
      { address: hostname === 'inner.test' ? '10.0.0.1' : '127.0.0.1', family: 4 },
    ];
    const result = await body({ lookup, allowPrivate: false }).run(
      { BaseUrl: `http://outer.test:${server.port}`, Method: 'POST', Body: 'x' },
      contextOf(),
    );
    expect(failureOf(result).message).toMatch(/inner\.test may not be called: 10\.0\.0\.1/);
  });
});
