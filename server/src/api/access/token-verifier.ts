/** Verifies bearer tokens (JWT) with a single algorithm, and either a configured key or an identity provider's keys. */
import { jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { readPublicKey } from './public-key.js';
import type { TokenAlgorithm } from './token-algorithms.js';

export interface TokenRules {
  readonly algorithm: TokenAlgorithm;
  readonly issuer?: string;
  readonly audience?: string;
  /** The maximum remaining lifetime of a token, in seconds. */
  readonly lifetimeSecondsMax: number;
  /** The maximum clock difference between issuer and server, in seconds. */
  readonly clockToleranceSeconds: number;
  /** The claim that holds the scopes; dots separate nested members. */
  readonly scopeClaim: string;
}

/** Either `publicKey`, whose text is PEM or the base64 text of its DER form, or a function that finds keys. */
export type TokenKeys = { readonly publicKey: string } | { readonly find: JWTVerifyGetKey };

export interface VerifiedToken {
  readonly subject: string | null;
  readonly scopes: ReadonlySet<string>;
  /** Milliseconds since 1970; null if the token is valid until it is removed. */
  readonly expiresAt: number | null;
  /** Null for a JWT. */
  readonly apiKeyId: string | null;
}

export type TokenVerifier = (token: string) => Promise<VerifiedToken>;

/** @throws Error with a message about the key if it cannot be used with the algorithm */
export function createTokenVerifier(rules: TokenRules, keys: TokenKeys): TokenVerifier {
  const { algorithm, audience, clockToleranceSeconds, issuer, lifetimeSecondsMax } = rules;
  const options = {
    algorithms: [algorithm],
    clockTolerance: clockToleranceSeconds,
    // A token that never expires can't be revoked.
    requiredClaims: ['exp'],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };
  const find = 'find' in keys ? keys.find : fixed(keys.publicKey, algorithm);
  return async (token) => {
    const { payload } = await jwtVerify(token, find, options);
    const { exp = 0 } = payload;
    // JSON parses 1e999 as infinity. A token that is valid for a century can't be revoked, either.
    if (exp > Date.now() / 1000 + lifetimeSecondsMax) {
      throw new Error(`The token is valid for longer than ${lifetimeSecondsMax} s`);
    }
    const scopes = scopesOf(payload, rules.scopeClaim);
    // As long as `jwtVerify` accepts the token.
    const expiresAt = (exp + clockToleranceSeconds) * 1000;
    return { subject: subjectOf(payload.sub), scopes, expiresAt, apiKeyId: null };
  };
}

function fixed(publicKey: string, algorithm: TokenAlgorithm): JWTVerifyGetKey {
  const key = readPublicKey(publicKey, algorithm);
  return async () => key;
}

/**
 * Some issuers send a numeric user id, contrary to RFC 7519.
 * @throws Error if it is something else, or a number that JSON has rounded, which could identify another user
 */
function subjectOf(sub: unknown): string | null {
  if (sub === undefined || sub === null) return null;
  if (typeof sub === 'string') return sub;
  if (typeof sub === 'number' && Number.isSafeInteger(sub)) return String(sub);
  throw new Error('The claim "sub" is neither a text nor a whole number up to 2^53');
}

/** The claim is a list, or a string with spaces between the scopes. */
function scopesOf(payload: JWTPayload, path: string): ReadonlySet<string> {
  const claim = claimAt(payload, path);
  if (typeof claim === 'string') return new Set(claim.split(' ').filter((scope) => scope !== ''));
  if (!Array.isArray(claim)) return new Set();
  return new Set(claim.filter((scope): scope is string => typeof scope === 'string'));
}

/** Names such as URLs and Keycloak clients may contain dots themselves, so the longest match wins. */
function claimAt(claims: unknown, path: string): unknown {
  if (typeof claims !== 'object' || claims === null) return undefined;
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const name = path.slice(0, end);
    if (!Object.hasOwn(claims, name)) continue;
    // An object with this member.
    const value = (claims as Record<string, unknown>)[name];
    return end === path.length ? value : claimAt(value, path.slice(end + 1));
  }
  return undefined;
}
