/** The keys of an identity provider: from a server that rotates them, fails, and says wrong things. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { IdentityProvider } from '../../../src/api/access/identity-provider.js';
import { createTokenVerifier, type TokenVerifier } from '../../../src/api/access/token-verifier.js';
import { readConfiguration, readKeys } from '../../../src/api/access/provider-documents.js';
import { createLogger } from '../../../src/base/logger.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

function signingKey(kid: string): SigningKey {
  return { kid, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

const [FIRST, SECOND_KEY, UNKNOWN] = [signingKey('first'), signingKey('second'), signingKey('x')];

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server with keys, and a verifier that uses them. */
class KeyServer {
  keys: readonly SigningKey[] = [FIRST];
  isDown = false;
  reads = 0;
  now = 0;
  verify!: TokenVerifier;
  provider!: IdentityProvider;

  static async start(): Promise<KeyServer> {
    const self = new KeyServer();
    const url = await listen((_request, response) => self.#answer(response));
    const logger = createLogger({ level: 'silent' });
    self.provider = new IdentityProvider({
      address: { keysUrl: url },
      logger,
      now: () => self.now,
    });
    const rules = {
      algorithm: 'ES256',
      lifetimeSecondsMax: 3600,
      clockToleranceSeconds: 0,
      scopeClaim: 'scope',
    } as const;
    self.verify = createTokenVerifier(rules, self.provider);
    return self;
  }

  #answer(response: Parameters<RequestListener>[1]): void {
    this.reads += 1;
    response.statusCode = this.isDown ? 503 : 200;
    const keys = this.keys.map(({ kid, publicKey }) => ({
      ...publicKey.export({ format: 'jwk' }),
      kid,
    }));
    response.end(JSON.stringify({ keys }));
  }

  async accepts({ kid, privateKey }: SigningKey): Promise<boolean> {
    const token = new SignJWT({ scope: 'conductor:viewer' }).setExpirationTime('10m');
    const text = await token.setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);
    return this.verify(text).then(
      () => true,
      () => false,
    );
  }
}

describe('the key set of a provider', () => {
  it('is read once for many tokens', async () => {
    const server = await KeyServer.start();
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.accepts(FIRST)));
    expect(answers).toEqual(Array.from({ length: 20 }, () => true));
    expect(server.reads).toBe(1);
  });

  it('is read again at once for a token with a new key', async () => {
    const server = await KeyServer.start();
    expect(await server.accepts(FIRST)).toBe(true);
    server.keys = [FIRST, SECOND_KEY];
    const answers = await Promise.all([
      server.accepts(SECOND_KEY),
      server.accepts(SECOND_KEY),
      server.accepts(FIRST),
    ]);
    expect(answers).toEqual([true, true, true]);
    expect(server.reads).toBe(2);
  });

  it('is read at most every 30 s for an unknown key', async () => {
    const server = await KeyServer.start();
    expect(await server.accepts(FIRST)).toBe(true);
    for (let seconds = 0; seconds < 60; seconds += 1) {
      server.now = seconds * SECOND;
      expect(await server.accepts(UNKNOWN)).toBe(false);
    }
    expect(server.reads).toBe(1 + 2);
  });

  it('stays valid while the provider is down, and unknown keys are refused', async () => {
    const server = await KeyServer.start();
    expect(await server.accepts(FIRST)).toBe(true);
    server.isDown = true;
    server.keys = [SECOND_KEY];
    for (let minutes = 1; minutes < 24 * 60; minutes += 7) {
      server.now = minutes * MINUTE;
      expect(await server.accepts(FIRST)).toBe(true);
      expect(await server.accepts(SECOND_KEY)).toBe(false);
    }
    server.isDown = false;
    server.now += MINUTE;
    expect(await server.accepts(SECOND_KEY)).toBe(true);
  });

  it('is requested at most every 30 s while the provider is down', async () => {
    const server = await KeyServer.start();
    server.isDown = true;
    for (let seconds = 0; seconds < 60; seconds += 1) {
      server.now = seconds * SECOND;
      expect(await server.accepts(FIRST)).toBe(false);
    }
    expect(server.reads).toBe(2);
    server.isDown = false;
    server.now = 61 * SECOND;
    expect(await server.accepts(FIRST)).toBe(true);
  });

  it('accepts every current key during rotations under load', async () => {
    const server = await KeyServer.start();
    const refused: string[] = [];
    let isOver = false;
    const use = async (key: () => SigningKey): Promise<number> => {
      let count = 0;
      for (; !isOver; count += 1) {
        const used = key();
        if (!(await server.accepts(used))) refused.push(used.kid);
      }
      return count;
    };
    let newest = FIRST;
    const users = [use(() => FIRST), use(() => newest), use(() => newest)];
    for (let rotation = 0; rotation < 5; rotation += 1) {
      // More than 30 s pass between two rotations, and the issuer publishes a key before it signs with it.
      server.now += MINUTE;
      const next = signingKey(`rotated-${rotation}`);
      server.keys = [...new Set([FIRST, newest, next])];
      newest = next;
      await expect.poll(() => server.accepts(next)).toBe(true);
    }
    isOver = true;
    expect(Math.min(...(await Promise.all(users)))).toBeGreaterThan(0);
    expect(refused).toEqual([]);
  });

  it('refuses a withdrawn key within the hour', async () => {
    const server = await KeyServer.start();
    expect(await server.accepts(FIRST)).toBe(true);
    server.keys = [SECOND_KEY];
    server.now = 61 * MINUTE;
    expect(await server.accepts(FIRST)).toBe(false);
    expect(await server.accepts(SECOND_KEY)).toBe(true);
  });

  it('is read again in the background when it is ten minutes old', async () => {
    const server = await KeyServer.start();
    expect(await server.accepts(FIRST)).toBe(true);
    server.keys = [SECOND_KEY];
    server.now = 11 * MINUTE;
    expect(await server.accepts(FIRST)).toBe(true);
    // Waits for the read in progress.
    await server.provider.prepare();
    expect(await server.accepts(FIRST)).toBe(false);
  });
});

describe('a provider document', () => {
  it('gives the addresses of an issuer', async () => {
    const issuer: string = await listen((_request, response) =>
      response.end(
        JSON.stringify({
          issuer,
          jwks_uri: 'https://id.example/keys',
          authorization_endpoint: 'https://id.example/authorize',
        }),
      ),
    );
    expect(await readConfiguration(issuer)).toEqual({
      issuer,
      keysUrl: 'https://id.example/keys',
      authorizationEndpoint: 'https://id.example/authorize',
      tokenEndpoint: null,
      endSessionEndpoint: null,
      idTokenAlgorithms: [],
    });
  });

  it.each<[string, object, string]>([
    ['another issuer', { issuer: 'https://other.example' }, 'belongs to the issuer "https://other'],
    ['no keys', {}, 'lacks jwks_uri'],
    [
      'keys without encryption',
      { jwks_uri: 'http://id.example/keys' },
      'jwks_uri must be an https',
    ],
    ['an address with a password', { jwks_uri: 'https://a:b@id.example' }, 'jwks_uri must be'],
    ['an address that is a number', { jwks_uri: 7 }, 'jwks_uri must be an https: address'],
  ])('is refused with %s', async (_what, members, problem) => {
    const issuer: string = await listen((_request, response) =>
      response.end(JSON.stringify({ issuer, ...members })),
    );
    await expect(readConfiguration(issuer)).rejects.toThrow(problem);
  });

  it.each<[string, RequestListener, string]>([
    ['a redirect', (_q, r) => r.writeHead(302, { location: 'https://id.example' }).end(), 'read'],
    ['an error', (_q, r) => r.writeHead(500).end('{}'), 'responded with status 500'],
    ['a long text', (_q, r) => r.end(`"${'x'.repeat(600_000)}"`), 'more than 524288 bytes'],
    ['no JSON', (_q, r) => r.end('<html>'), 'did not respond with a JSON object'],
    ['no keys', (_q, r) => r.end('{"keys": 7}'), 'is not a set of keys'],
    ['a response that never ends', (_q, r) => void r.write('{'), 'cannot be read'],
    ['an empty response', (_q, r) => r.end(), 'did not respond with a JSON object'],
    ['a lost connection', (q) => void q.socket.destroy(), 'cannot be read'],
  ])('is refused with %s', async (_what, handle, problem) => {
    const url = await listen(handle);
    await expect(readKeys(url)).rejects.toThrow(problem);
  });
});
