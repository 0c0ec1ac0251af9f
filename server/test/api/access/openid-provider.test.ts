/** Tokens of a real OpenID provider. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuthConfig } from '../../../src/api/access/access-control.js';
import { AUDIENCE, CLIENT_ID, OpenIdProvider } from '../../support/openid-provider.js';
import { startApi, type ApiServer } from '../support/api-server.js';
import { SOME_INSTANCE } from '../support/scripted-host.js';

const INFO = {
  name: 'Stepwright',
  version: '1.2.3',
  startTime: 0,
  machineName: 'm',
  osVersion: 'o',
  workingSet: 1,
  nodeId: 'n',
  store: 'memory',
  backplane: 'local',
} as const;

let provider: OpenIdProvider;
beforeAll(async () => {
  provider = await OpenIdProvider.start({ redirectUris: ['http://127.0.0.1:1/ui/'] });
});
afterAll(() => provider.stop());

function startWith(changes: Partial<AuthConfig> = {}): Promise<ApiServer> {
  return startApi({
    host: { 'instances.get': async () => SOME_INSTANCE, info: () => INFO },
    auth: {
      algorithm: 'ES256',
      keys: { issuer: provider.issuer },
      audience: AUDIENCE,
      lifetimeSecondsMax: 3600,
      clockToleranceSeconds: 0,
      scopeClaim: 'scope',
      ...changes,
    },
  });
}

async function statusWith(api: ApiServer, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await api.fetch('/api/workflow/w1', { headers })).status;
}

describe('a token of an OpenID provider', () => {
  it('is accepted with its scopes', async () => {
    const api = await startWith();
    expect(await statusWith(api, await provider.programToken('conductor:viewer'))).toBe(200);
    expect(await statusWith(api, await provider.programToken('conductor:author'))).toBe(403);
  });

  it('is refused for another audience, from another issuer, and with another algorithm', async () => {
    const token = await provider.programToken('conductor:viewer');
    for (const changes of [
      { audience: 'https://other.example' },
      { issuer: 'https://other.example' },
      { algorithm: 'RS256' },
    ] as const) {
      expect(await statusWith(await startWith(changes), token)).toBe(401);
    }
  });

  it('is verified with keys at an address of their own', async () => {
    const api = await startWith({ keys: { keysUrl: `${provider.issuer}/jwks` } });
    expect(await statusWith(api, await provider.programToken('conductor:viewer'))).toBe(200);
  });

  it('has its scopes in another claim if the server is configured for that', async () => {
    const api = await startWith({ scopeClaim: 'client_id' });
    expect(await statusWith(api, await provider.programToken('conductor:viewer'))).toBe(403);
  });

  it('is refused while the provider cannot be reached', async () => {
    const token = await provider.programToken('conductor:viewer');
    const api = await startWith({ keys: { issuer: 'http://127.0.0.1:1' } });
    expect(await statusWith(api, token)).toBe(401);
    expect(JSON.stringify(api.logLines)).toContain('failed to fetch the signing keys');
  });
});

describe('the sign-in of page users', () => {
  const signIn = { clientId: CLIENT_ID, scope: 'openid', parameters: '' };

  it('is public, and the page may call the provider', async () => {
    const api = await startWith({ signIn });
    await expect
      .poll(async () => (await (await api.fetch('/api/info')).json()) as object)
      .toMatchObject({
        signIn: {
          ...signIn,
          issuer: provider.issuer,
          authorizationEndpoint: `${provider.issuer}/auth`,
          tokenEndpoint: `${provider.issuer}/token`,
          endSessionEndpoint: `${provider.issuer}/session/end`,
          idTokenAlgorithms: ['ES256'],
        },
      });
    const policy = (await api.fetch('/ui/')).headers.get('content-security-policy');
    expect(policy).toContain(`connect-src 'self' ${provider.issuer};`);
  });

  it('is unavailable without a client id', async () => {
    const api = await startWith();
    const info: unknown = await (await api.fetch('/api/info')).json();
    expect(info).not.toHaveProperty('signIn');
  });
});
