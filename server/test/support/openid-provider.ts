/**
 * A real OpenID provider (the certified library oidc-provider), with the page of the operator as its client. It accepts
 * every user name with any password.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const CLIENT_ID = 'stepwright-page';
/** A program that gets tokens for itself. */
const PROGRAM = { id: 'nightly-job', secret: 'not-a-secret-in-tests' };
export const AUDIENCE = 'https://stepwright.example';
const SCOPES = [
  'conductor:admin',
  'conductor:author',
  'conductor:controller',
  'conductor:viewer',
].join(' ');

interface ProviderOptions {
  /** Where the page may receive its codes. */
  readonly redirectUris: readonly string[];
  readonly accessTokenSeconds?: number;
}

export class OpenIdProvider {
  readonly issuer: string;
  readonly #close: () => Promise<void>;

  private constructor(issuer: string, close: () => Promise<void>) {
    this.issuer = issuer;
    this.#close = close;
  }

  static async start(options: ProviderOptions): Promise<OpenIdProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', createProvider(issuer, options).callback());
    return new OpenIdProvider(issuer, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
  }

  stop(): Promise<void> {
    return this.#close();
  }

  /** The settings of a server that trusts it. */
  get settings(): Readonly<Record<string, string>> {
    return {
      auth: 'true',
      alg: 'ES256',
      issuer: this.issuer,
      auth_audience: AUDIENCE,
      auth_client_id: CLIENT_ID,
      auth_client_scope: `openid offline_access ${SCOPES}`,
      auth_client_parameters: `resource=${encodeURIComponent(AUDIENCE)}`,
    };
  }

  /** A token for a program, by its client credentials. */
  async programToken(scope: string): Promise<string> {
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${PROGRAM.id}:${PROGRAM.secret}`).toString('base64')}`,
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource: AUDIENCE }),
    });
    // By RFC 6749, section 5.1.
    const answer = (await response.json()) as { access_token?: string; error?: string };
    if (answer.access_token === undefined) throw new Error(`No token: ${JSON.stringify(answer)}`);
    return answer.access_token;
  }
}

function createProvider(issuer: string, options: ProviderOptions): Provider {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { accessTokenSeconds = 300, redirectUris } = options;
  return new Provider(issuer, {
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    clients: [
      {
        client_id: CLIENT_ID,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: [...redirectUris],
        post_logout_redirect_uris: [...redirectUris],
        grant_types: ['authorization_code', 'refresh_token'],
      },
      {
        client_id: PROGRAM.id,
        client_secret: PROGRAM.secret,
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      },
    ],
    jwks: {
      keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'ES256' }],
    },
    clientBasedCORS: () => true,
    scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
    pkce: { required: () => true },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: SCOPES,
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: accessTokenSeconds,
          jwt: { sign: { alg: 'ES256' } },
        }),
        useGrantedResource: () => true,
      },
    },
    ttl: { Session: 3600, Grant: 3600, Interaction: 600, RefreshToken: 3600, IdToken: 300 },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  });
}
