/** HttpRequest steps over TLS: the certificate must belong to the name in the URL, whatever address is used. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { AddressLookup } from '../../src/step-bodies/http-request/pinned-connector.js';
import { contextOf, failureOf, useCalls, valuesOf } from './support/call.js';
import { secureTestCertificate } from './support/secure-test-certificate.js';

const { serve, serveSecurely, body } = useCalls();
const lookup: AddressLookup = async () => [{ address: '127.0.0.1', family: 4 }];
const usual = getCACertificates('default');

function trustTestCertificate(): void {
  setDefaultCACertificates([...usual, secureTestCertificate]);
}

afterEach(() => setDefaultCACertificates(usual));

describe('an https call', () => {
  it('connects to the checked address with the name from the URL', async () => {
    trustTestCertificate();
    const server = await serveSecurely((_request, response) => response.end('safe'));
    const values = valuesOf(
      await body({ lookup }).run({ BaseUrl: `https://secure.test:${server.port}` }, contextOf()),
    );
    expect(values).toMatchObject({ ResponseCode: 200, ResponseBody: 'safe', ErrorMessage: null });
    expect(server.requests[0]?.headers.host).toBe(`secure.test:${server.port}`);
  });

  it('sends nothing to a server with a certificate for another name', async () => {
    trustTestCertificate();
    const server = await serveSecurely((_request, response) => response.end('stolen'));
    const values = valuesOf(
      await body({ lookup }).run({ BaseUrl: `https://other.test:${server.port}` }, contextOf()),
    );
    expect(values['ResponseCode']).toBe(0);
    expect(values['ErrorMessage']).toMatch(/certificate/);
    expect(server.requests).toEqual([]);
  });

  it('sends nothing to a server with an untrusted certificate', async () => {
    const server = await serveSecurely((_request, response) => response.end('stolen'));
    const values = valuesOf(
      await body({ lookup }).run({ BaseUrl: `https://secure.test:${server.port}` }, contextOf()),
    );
    expect(values['ResponseCode']).toBe(0);
    expect(values['ErrorMessage']).toMatch(/certificate/);
    expect(server.requests).toEqual([]);
  });

  it('reports that the host does not speak TLS on the port', async () => {
    const plain = await serve((_request, response) => response.end());
    const values = valuesOf(
      await body({ lookup }).run({ BaseUrl: `https://secure.test:${plain.port}` }, contextOf()),
    );
    expect(values['ResponseCode']).toBe(0);
    expect(values['ErrorMessage']).toMatch(
      /the TLS handshake failed.* \((?:EPROTO|ERR_SSL_\w+)\)$/,
    );
  });

  it('does not repeat a body to an unencrypted address', async () => {
    trustTestCertificate();
    const target = await serve((_request, response) => response.end());
    const server = await serveSecurely((_request, response) => {
      response.writeHead(307, { Location: target.url }).end();
    });
    const inputs = { BaseUrl: `https://secure.test:${server.port}`, Method: 'POST', Body: 'x' };
    const result = await body({ lookup }).run(inputs, contextOf());
    expect(failureOf(result).type).toBe('AddressRefused');
    expect(target.connections).toBe(0);
  });

  it('is rejected because of its address before the handshake', async () => {
    const server = await serveSecurely((_request, response) => response.end());
    const result = await body({ lookup, allowLoopback: false }).run(
      { BaseUrl: `https://secure.test:${server.port}` },
      contextOf(),
    );
    expect(failureOf(result).type).toBe('AddressRefused');
    expect(server.connections).toBe(0);
  });
});
