/**
 * Tokens and documents as Keycloak sends them, by its documentation (Server Administration Guide, "OIDC token and SAML assertion
 * mappings" and "Realm keys"; Securing Applications, "OpenID Connect endpoints"): roles are in `realm_access.roles` and
 * `resource_access.<client>.roles`, client scopes in the text `scope`; `aud` is a text or a list; the keys include one for encryption.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IdentityProvider } from '../../../src/api/access/identity-provider.js';
import { createTokenVerifier, type VerifiedToken } from '../../../src/api/access/token-verifier.js';
import { createLogger } from '../../../src/base/logger.js';

const CLIENT = 'stepwright.example.com';
const [signing, encryption] = [1, 2].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
let issuer: string;

const server = createServer((request, response) => {
  const realm = `${issuer}/protocol/openid-connect`;
  const documents: Readonly<Record<string, object>> = {
    '/realms/shop/.well-known/openid-configuration': {
      issuer,
      authorization_endpoint: `${realm}/auth`,
      token_endpoint: `${realm}/token`,
      introspection_endpoint: `${realm}/token/introspect`,
      end_session_endpoint: `${realm}/logout`,
      jwks_uri: `${realm}/certs`,
      id_token_signing_alg_values_supported: ['PS384', 'RS384', 'EdDSA', 'ES384', 'HS256', 'RS256'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    },
    '/realms/shop/protocol/openid-connect/certs': {
      keys: [
        {
          ...jwkOf(encryption!),
          kid: 'enc',
          alg: 'RSA-OAEP',
          use: 'enc',
          x5c: ['MIICmzCCAYMCBgF'],
        },
        { ...jwkOf(signing!), kid: 'sig', alg: 'RS256', use: 'sig', x5t: 'abc', 'x5t#S256': 'def' },
      ],
    },
  };
  const document = documents[request.url ?? ''];
  response.writeHead(document === undefined ? 404 : 200).end(JSON.stringify(document ?? {}));
});
type Pair = ReturnType<typeof generateKeyPairSync>;
const jwkOf = ({ publicKey }: Pair): object => publicKey.export({ format: 'jwk' });

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/shop`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** The access token of a service account. */
function claims(changes: JWTPayload = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1000);
  return {
    exp: now + 300,
    iat: now,
    jti: `trrtcc:${randomUUID()}`,
    iss: issuer,
    aud: ['https://stepwright.example.com', 'account'],
    sub: randomUUID(),
    typ: 'Bearer',
    azp: CLIENT,
    acr: '1',
    'allowed-origins': ['https://stepwright.example.com'],
    realm_access: { roles: ['offline_access', 'conductor:viewer', 'default-roles-shop'] },
    resource_access: {
      [CLIENT]: { roles: ['conductor:controller:order*'] },
      account: { roles: ['manage-account', 'view-profile'] },
    },
    scope: 'openid profile conductor:author email',
    email_verified: false,
    preferred_username: 'service-account-nightly',
    ...changes,
  };
}

async function verified(
  scopeClaim: string,
  payload = claims(),
  pair = signing!,
  kid = 'sig',
): Promise<VerifiedToken> {
  const logger = createLogger({ level: 'silent' });
  const now = (): number => performance.now();
  const { find } = new IdentityProvider({ address: { issuer }, logger, now });
  const audience = 'https://stepwright.example.com';
  const rules = {
    algorithm: 'RS256',
    issuer,
    audience,
    lifetimeSecondsMax: 3600,
    clockToleranceSeconds: 0,
    scopeClaim,
  } as const;
  const header = { alg: 'RS256', typ: 'JWT', kid };
  const token = await new SignJWT(payload).setProtectedHeader(header).sign(pair.privateKey);
  return createTokenVerifier(rules, { find })(token);
}

describe('a token of Keycloak', () => {
  it.each([
    ['client scopes', 'scope', 'conductor:author'],
    ['roles of the realm', 'realm_access.roles', 'conductor:viewer'],
    ['roles of a client', `resource_access.${CLIENT}.roles`, 'conductor:controller:order*'],
  ])('gives the scopes that are %s', async (_what, claim, scope) => {
    const token = await verified(claim);
    expect([...token.scopes].filter((each) => each.startsWith('conductor:'))).toEqual([scope]);
  });

  it('is accepted with an audience that is a text', async () => {
    const token = await verified('scope', claims({ aud: 'https://stepwright.example.com' }));
    expect(token.scopes).toContain('conductor:author');
  });

  it('is refused for another audience, such as an ID token, and without one', async () => {
    await expect(verified('scope', claims({ typ: 'ID', aud: CLIENT }))).rejects.toThrow('"aud"');
    const withoutAudience = claims();
    delete withoutAudience.aud;
    await expect(verified('scope', withoutAudience)).rejects.toThrow('"aud"');
    await expect(verified('scope', claims({ iss: `${issuer}-other` }))).rejects.toThrow('"iss"');
  });

  it('is refused if the key for encryption has signed it', async () => {
    await expect(verified('scope', claims(), encryption, 'enc')).rejects.toThrow(
      'no applicable key',
    );
  });
});
