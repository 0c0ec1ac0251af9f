/** Verifies bearer tokens (JWT) against one configured key and one algorithm. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { jwtVerify, type JWTPayload } from 'jose';

export const TOKEN_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

export interface AuthConfig {
  readonly enabled: boolean;
  readonly algorithm: TokenAlgorithm;
  /** PEM, or the base64 text of its DER form. */
  readonly publicKey: string;
  readonly issuer?: string;
  readonly audience?: string;
  /** The maximum time from now until a token expires, in seconds. */
  readonly lifetimeSecondsMax: number;
}

export interface VerifiedToken {
  readonly subject: string | null;
  readonly scopes: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export type TokenVerifier = (token: string) => Promise<VerifiedToken>;

/** @throws Error with a message about the key if it cannot be used with the algorithm */
export function createTokenVerifier(config: AuthConfig): TokenVerifier {
  const key = readPublicKey(config.publicKey);
  assertKeyFits(key, config.algorithm);
  const options = {
    algorithms: [config.algorithm],
    // A token that never expires cannot be revoked.
    requiredClaims: ['exp'],
    ...(config.issuer !== undefined && { issuer: config.issuer }),
    ...(config.audience !== undefined && { audience: config.audience }),
  };
  return async (token) => {
    const { payload } = await jwtVerify(token, key, options);
    const { exp = 0, sub = null } = payload;
    // JSON reads 1e999 as infinity. A token that is valid for a century cannot be revoked, either.
    if (exp > Date.now() / 1000 + config.lifetimeSecondsMax) {
      throw new Error(`The token is valid for longer than ${config.lifetimeSecondsMax} s`);
    }
    return { subject: sub, scopes: scopesOf(payload), expiresAt: exp * 1000 };
  };
}

/** The claim is a list, or a string with spaces between the scopes. */
function scopesOf(payload: JWTPayload): ReadonlySet<string> {
  const claim = payload['scope'];
  if (typeof claim === 'string') return new Set(claim.split(' ').filter((scope) => scope !== ''));
  if (!Array.isArray(claim)) return new Set();
  return new Set(claim.filter((scope): scope is string => typeof scope === 'string'));
}

function readPublicKey(text: string): KeyObject {
  const trimmed = text.trim();
  if (trimmed.includes('-----BEGIN')) return createPublicKey(trimmed);
  const der = Buffer.from(trimmed, 'base64');
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    // RSA keys also exist in an older format that contains only the key.
    return createPublicKey({ key: der, format: 'der', type: 'pkcs1' });
  }
}

const CURVES: Readonly<Record<string, string>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
};

function assertKeyFits(key: KeyObject, algorithm: TokenAlgorithm): void {
  const curve = CURVES[algorithm];
  const details = key.asymmetricKeyDetails;
  if (curve === undefined) {
    if (key.asymmetricKeyType !== 'rsa' || (details?.modulusLength ?? 0) < 2048) {
      throw new Error(`The public key must be an RSA key of at least 2048 bits for ${algorithm}`);
    }
  } else if (key.asymmetricKeyType !== 'ec' || details?.namedCurve !== curve) {
    throw new Error(`The public key must be an EC key on the curve ${curve} for ${algorithm}`);
  }
}
