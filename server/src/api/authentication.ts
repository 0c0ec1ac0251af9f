/**
 * Who may call what: bearer tokens (JWT), checked against one configured key and one algorithm.
 *
 * Invariants:
 *  A1 The algorithm is the configured one, whatever the token says about itself.
 *  A2 Without configuration everybody may do everything; with it, nothing is reached without a valid token except the
 *     routes that carry no `@Security`.
 *  A3 A refusal does not tell why a token was not believed; the log does, at debug level.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Request } from 'express';
import { jwtVerify, type JWTPayload } from 'jose';
import { AppError } from '../base/errors.js';
import { addressOf, contextOf } from './http/request-context.js';

export const TOKEN_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'] as const;
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number];

/** Everything is allowed to the owner of this scope. */
const ADMIN_SCOPE = 'conductor:admin';

export interface AuthConfig {
  readonly enabled: boolean;
  readonly algorithm: TokenAlgorithm;
  /** PEM, or the base64 text of its DER form. */
  readonly publicKey: string;
  readonly issuer?: string;
  readonly audience?: string;
  /** How far ahead a token may expire, in seconds. */
  readonly lifetimeSecondsMax: number;
}

export interface VerifiedToken {
  readonly subject: string | null;
  readonly scopes: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export type TokenVerifier = (token: string) => Promise<VerifiedToken>;

/** @throws Error with a sentence about the key when it cannot be used with the algorithm */
export function createTokenVerifier(config: AuthConfig): TokenVerifier {
  const key = readPublicKey(config.publicKey);
  assertKeyFits(key, config.algorithm);
  const options = {
    algorithms: [config.algorithm],
    // A token that is good for ever cannot be taken back from whoever got hold of it.
    requiredClaims: ['exp'],
    ...(config.issuer !== undefined && { issuer: config.issuer }),
    ...(config.audience !== undefined && { audience: config.audience }),
  };
  return async (token) => {
    const { payload } = await jwtVerify(token, key, options);
    const { exp = 0, sub = null } = payload;
    // JSON reads 1e999 as infinity, and a token that is good for a century cannot be taken back either.
    if (exp > Date.now() / 1000 + config.lifetimeSecondsMax) {
      throw new Error(`The token is good for more than ${config.lifetimeSecondsMax} s`);
    }
    return { subject: sub, scopes: scopesOf(payload), expiresAt: exp * 1000 };
  };
}

/**
 * Called by tsoa's routes for each `@Security` of a route; one that resolves is enough.
 * @throws AppError `unauthenticated`, `forbidden`, `too_many_requests`
 */
export async function expressAuthentication(
  request: Request,
  _scheme: string,
  scopes: readonly string[] = [],
): Promise<VerifiedToken | null> {
  const context = contextOf(request);
  const { logger, refusals, tokens } = context.services;
  if (tokens === null) return null;
  context.verifiedToken ??= verify(request, tokens).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    refusals.count(addressOf(request));
    logger.debug({ err: error }, 'A token was refused');
    throw unauthenticated('The bearer token is not valid', 'invalid_token');
  });
  const token = await context.verifiedToken;
  if (scopes.every((scope) => covers(token, scope))) return token;
  throw new AppError('forbidden', `This call needs the scope ${scopes.join(' ')}`);
}

/** Whether the caller of a request that was let in may also do what needs this scope. */
export async function hasScope(request: Request, scope: string): Promise<boolean> {
  const token = await contextOf(request).verifiedToken;
  return token === null || covers(token, scope);
}

function covers(token: VerifiedToken, scope: string): boolean {
  return token.scopes.has(ADMIN_SCOPE) || token.scopes.has(scope);
}

async function verify(request: Request, tokens: TokenVerifier): Promise<VerifiedToken> {
  const match = /^bearer +([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? '');
  if (match?.[1] === undefined) {
    throw unauthenticated('This call needs a bearer token in the Authorization header');
  }
  return tokens(match[1]);
}

function unauthenticated(detail: string, reason?: string): AppError {
  return new AppError('unauthenticated', detail, {
    ...(reason !== undefined && { fields: { error: reason } }),
  });
}

/** The claim may be text with spaces or a list. */
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
    // RSA keys also exist in the older form that holds nothing but the key.
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
