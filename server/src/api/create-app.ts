/**
 * The HTTP API as an Express application: everything between a request and one call of the host.
 *
 * Owns: routes, bodies, formats, authentication, errors as problem documents. Must not know: where it listens, the
 * environment, how workflows run.
 *
 * Invariants:
 *  API1 A body is read after its sender was authenticated, under a byte limit, and parsed under depth and count limits.
 *  API2 Free-form data reaches the host as it was sent: own `__proto__` members, casing and order included.
 *  API3 Every error is a problem document; what nobody expected shows an id and nothing else.
 *  API4 A work item that could not be delivered goes back to the queue.
 */
import express, { type Express, type RequestHandler } from 'express';
import { RegisterRoutes } from '../generated/routes.js';
import type { Logger } from '../base/logger.js';
import type { Host } from '../runtime/host.js';
import { GuessLimit, RefusalLimit, WaitingLimit } from './http/address-limits.js';
import { sendAnswer } from './http/answer-format.js';
import type { ApiLimits } from './http/api-limits.js';
import { createTokenVerifier, type AuthConfig } from './tokens.js';
import { errorHandler } from './http/error-handler.js';
import { registerForeignPageRules } from './http/foreign-pages.js';
import { registerOperatorPage } from './pages/operator-page.js';
import { parseQuery } from './http/query-names.js';
import { attachContext } from './http/request-context.js';
import type { RequestMemory } from './http/request-memory.js';
import { registerSwaggerPage } from './pages/swagger-page.js';
import { refuseHead, unmatched } from './http/unmatched.js';

export interface AppOptions {
  readonly host: Host;
  readonly logger: Logger;
  readonly limits: ApiLimits;
  /** Null or not enabled: everybody may do everything. */
  readonly auth: AuthConfig | null;
  /** Proxies whose word about the address of the caller is taken; none when left out. */
  readonly trustedProxies?: readonly string[];
  /** See `foreign-pages.ts`; none when left out. */
  readonly allowedHosts?: readonly string[];
  readonly corsOrigins?: readonly string[];
  readonly requestMemory: RequestMemory;
}

/** @throws Error with a sentence when the public key or a proxy's address cannot be used */
export function createApp(options: AppOptions): Express {
  const { auth, host, limits, logger, trustedProxies = [] } = options;
  const app = express();
  app.set('trust proxy', [...trustedProxies]);
  app.disable('x-powered-by');
  // Answers are computed anew each time; hashing them would only cost.
  app.disable('etag');
  app.set('query parser', parseQuery);
  app.response.json = function json(value: unknown) {
    return sendAnswer(this, value);
  };

  const tokens = auth?.enabled === true ? createTokenVerifier(auth) : null;
  const now = () => performance.now();
  const services = {
    host,
    logger,
    limits,
    tokens,
    refusals: new RefusalLimit({ perMinuteMax: limits.wrongBearersPerMinuteMax, now }),
    guesses: new GuessLimit({ perMinuteMax: limits.wrongTokensPerMinuteMax, now }),
    waiting: new WaitingLimit(limits.waitingPerAddressMax),
    memory: options.requestMemory,
  };
  app.use(attachContext(services));
  app.use(securityHeaders);
  registerForeignPageRules(app, {
    allowedHosts: options.allowedHosts ?? [],
    corsOrigins: options.corsOrigins ?? [],
    hasAccessControl: tokens !== null,
  });
  app.use('/api/activity', refuseHead);
  app.use('/api/stream', refuseHead);
  RegisterRoutes(app);
  registerSwaggerPage(app);
  registerOperatorPage(app);
  app.use(unmatched(app));
  app.use(errorHandler);
  return app;
}

const securityHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  // Data of workflows has no place in caches.
  response.setHeader('Cache-Control', 'no-store');
  next();
};
