/** Tokens as signed by an identity provider, and the settings of a server that accepts them. */
import { generateKeyPairSync, sign } from 'node:crypto';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

export const AUTH_SETTINGS: Readonly<Record<string, string>> = {
  auth: 'true',
  alg: 'ES256',
  publickey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
};

export function makeToken(subject: string, scope: string, expiresInSeconds = 600): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { sub: subject, scope, iat: now, exp: now + expiresInSeconds };
  const text = `${part({ alg: 'ES256', typ: 'JWT' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(text), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return `${text}.${signature.toString('base64url')}`;
}
