/**
 * Authorizes calls by their bearer tokens: JWTs and API keys.
 *
 * Invariants:
 *  A1 The algorithm is always the configured one, regardless of the token's header (`token-verifier.ts`).
 *  A2 Without configuration, everything is allowed. With it, only routes without `@Security` are reachable without a valid token.
 *  A3 An error response does not say why a token was rejected; the log does, at debug level.
 */
import type { Request } from 'express';
import { AppError } from '../../base/errors.js';
import { allowsName, type AllowedNames } from '../../base/allowed-names.js';
import { isApiKey, readKeyText } from '../../runtime/access/api-key-codec.js';
import type { Host } from '../../runtime/host.js';
import { addressOf, beginRequest, contextOf, responseOf } from '../http/request-context.js';
import { StoreUnavailableError } from '../../store/store.js';
import type { Admission } from './admission.js';
import { admitsNarrowed } from './narrowed-calls.js';
import { allowedNamesOf } from './scopes.js';
import type { TokenVerifier, VerifiedToken } from './token-verifier.js';

/**
 * Called by tsoa for each `@Security` of a route; one success is enough.
 * @throws AppError `unauthenticated`, `forbidden`, `too_many_requests`; with a narrowed scope also that its target does not exist
 */
export async function expressAuthentication(
  request: Request,
  _scheme: string,
  scopes: readonly string[] = [],
): Promise<VerifiedToken | null> {
  const context = contextOf(request);
  const { access, logger, bearerTokenFailures } = context.services;
  if (access === null) {
    await beginRequest(request);
    return null;
  }
  context.verifiedToken ??= verify(request, access.verify).catch((error: unknown) => {
    if (error instanceof AppError || error instanceof StoreUnavailableError) throw error;
    bearerTokenFailures.count(addressOf(request));
    logger.debug({ err: error }, 'rejected a bearer token');
    throw unauthenticated('The bearer token is invalid', 'invalid_token');
  });
  const token = await context.verifiedToken;
  context.subject = token.subject;
  context.admission ??= admit(request, token);
  await beginRequest(request);
  for (const scope of scopes) {
    const allowed = allowedNamesOf(token.scopes, scope);
    if (allowed === 'all') continue;
    if (allowed.length === 0) throw forbidden(scope);
    if (!(await admitsNarrowed(request, allowed))) throw forbidden(`${scope} without a prefix`);
  }
  return token;
}

function admit(request: Request, token: VerifiedToken): Admission {
  const bearer = bearerOf(request) ?? '';
  const apiKey = isApiKey(bearer) ? bearer : null;
  const { admissions } = contextOf(request).services;
  return admissions.admit({ ...token, apiKey }, request, responseOf(request));
}

/** The definitions that this scope covers for the caller of an authenticated request. */
export async function allowedNames(request: Request, scope: string): Promise<AllowedNames> {
  const token = await contextOf(request).verifiedToken;
  return token === null ? 'all' : allowedNamesOf(token.scopes, scope);
}

/** Whether the caller of an authenticated request may also read runs of this definition. */
export async function mayView(request: Request, definitionId: string): Promise<boolean> {
  return allowsName(await allowedNames(request, 'conductor:viewer'), definitionId);
}

function forbidden(scope: string): AppError {
  return new AppError('forbidden', `This call requires the scope ${scope}`);
}

async function verify(request: Request, tokens: TokenVerifier): Promise<VerifiedToken> {
  const bearer = bearerOf(request);
  if (bearer === null) {
    throw unauthenticated('This call requires a bearer token in the Authorization header');
  }
  return isApiKey(bearer) ? verifyKey(request, bearer) : tokens(bearer);
}

/** @throws Error if there is no such key */
async function verifyKey(request: Request, text: string): Promise<VerifiedToken> {
  const key = await tokenOfKey(contextOf(request).services.host, text);
  if (key === null) throw new Error('There is no such API key, or it has expired');
  return key;
}

/** Null: there is no such key, or it has expired. @throws StoreUnavailableError */
export async function tokenOfKey(
  { keys }: Pick<Host, 'keys'>,
  text: string,
): Promise<VerifiedToken | null> {
  const key = await keys.verify(text);
  if (key === null) return null;
  const { expiresAt, name, scopes } = key;
  const apiKeyId = readKeyText(text)?.id ?? null;
  return { subject: name, scopes: new Set(scopes), expiresAt, apiKeyId };
}

function bearerOf(request: Request): string | null {
  return /^bearer +([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
}

function unauthenticated(detail: string, reason?: string): AppError {
  return new AppError('unauthenticated', detail, {
    ...(reason !== undefined && { fields: { error: reason } }),
  });
}
