/**
 * What belongs to one request beside Express's own objects: the application's services and the body that was read.
 *
 * tsoa builds controllers from the request alone, so this is how a controller gets the services of *its* application.
 * Several applications can live in one process that way, which tests of a fleet need.
 */
import type { Request, RequestHandler, Response } from 'express';
import type { Json } from '../../engine/values/json.js';
import type { Logger } from '../../base/logger.js';
import { ANONYMOUS } from '../../runtime/operations/control-types.js';
import type { Host } from '../../runtime/host.js';
import type { GuessLimit, RefusalLimit, WaitingLimit } from './address-limits.js';
import type { ApiLimits } from './api-limits.js';
import type { TokenVerifier, VerifiedToken } from '../tokens.js';
import type { BodyMemory, RequestMemory } from './request-memory.js';

export interface ApiServices {
  readonly host: Host;
  readonly limits: ApiLimits;
  readonly logger: Logger;
  /** Null: everybody may do everything. */
  readonly tokens: TokenVerifier | null;
  readonly refusals: RefusalLimit;
  readonly guesses: GuessLimit;
  readonly waiting: WaitingLimit;
  readonly memory: RequestMemory;
}

/** A place in a body, from 1. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

export interface ParsedBody {
  readonly value: Json;
  /** Makes what finds where JSON pointers point to in the text; null where the text is empty. */
  readonly locator: () => (pointer: string) => TextPosition | null;
}

interface RequestContext {
  readonly services: ApiServices;
  /** Kept, because it is computed from headers each time. Null: nobody has asked. */
  address: string | null;
  body: ParsedBody | null;
  /** What the body takes until the answer is sent. */
  bodyMemory: BodyMemory | null;
  /** Kept, because a route that accepts several scopes asks several times. */
  verifiedToken: Promise<VerifiedToken> | null;
}

const contexts = new WeakMap<Request, RequestContext>();

/** Gives every request its context; comes before everything else. */
export function attachContext(services: ApiServices): RequestHandler {
  return (request, _response, next) => {
    contexts.set(request, {
      services,
      address: null,
      body: null,
      bodyMemory: null,
      verifiedToken: null,
    });
    next();
  };
}

export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (context === undefined) throw new Error('The request went around attachContext');
  return context;
}

/** The response that belongs to the request; Express links the two. */
export function responseOf(request: Request): Response {
  if (request.res === undefined) throw new Error('The request has no response');
  return request.res;
}

const ACTOR_LENGTH_MAX = 200;

/** Who calls, as records of what was done name them: what the token says about itself. */
export async function actorOf(request: Request): Promise<string> {
  const token = await contextOf(request).verifiedToken;
  return token?.subject?.slice(0, ACTOR_LENGTH_MAX) ?? ANONYMOUS;
}

/** Who calls, as far as limits tell callers apart. */
export function addressOf(request: Request): string {
  const context = contextOf(request);
  context.address ??= request.ip ?? '';
  return context.address;
}

/** Aborted when the caller hangs up before the answer was sent. */
export function callerGone(request: Request): AbortSignal {
  const controller = new AbortController();
  const response = responseOf(request);
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  if (response.destroyed) controller.abort();
  return controller.signal;
}
