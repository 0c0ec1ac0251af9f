/** Clients with tokens, for servers with access control. */
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import { Client, type Answer, type CallOptions } from './client.js';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Settings of a server that accepts the tokens. */
export const TOKEN_ENVIRONMENT = {
  auth: 'true',
  alg: 'ES256',
  publickey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
};

/** @param scope scopes, separated by spaces */
export function tokenWith(scope: string, subject = 'tester'): Promise<string> {
  return new SignJWT({ scope, sub: subject })
    .setProtectedHeader({ alg: 'ES256' })
    .setExpirationTime('15m')
    .sign(privateKey);
}

export async function clientWith(url: string, scope: string): Promise<TokenClient> {
  return new TokenClient(url, await tokenWith(scope));
}

export class TokenClient extends Client {
  readonly #token: string;

  constructor(url: string, token: string) {
    super(url);
    this.#token = token;
  }

  override call<Body = unknown>(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<Answer<Body>> {
    const headers = { ...options.headers, authorization: `Bearer ${this.#token}` };
    return super.call<Body>(method, path, { ...options, headers });
  }
}
