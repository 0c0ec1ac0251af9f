/**
 * The HTTP API as an Express application: everything between a request and one call of the host.
 *
 * Owns: routes, bodies, formats, authentication, errors as problem documents. Must not know: where it listens, the
 * environment, how workflows run.
 *
 * Invariants:
 *  API1 A body is read after its sender was authenticated, under a byte limit, and parsed under depth and count limits.
 *  API2 Free-form data reaches the host as it was sent, including own `__proto__` members, casing and order.
 *  API3 Every error is a problem document; an unexpected error shows only an id.
 *  API4 A work item that could not be delivered returns to the queue.
 *  API5 A call whose caller has lost its right in the meantime has no effect from then on, and shows nothing
 *      (`access/admission.ts`).
 */
import express, { type Express, type RequestHandler } from 'express';
import { RegisterRoutes } from '../generated/routes.js';
import type { Logger } from '../base/logger.js';
import type { Host } from '../runtime/host.js';
import type { Tracing } from '../tracing/tracing.js';
import {
  WorkTokenFailureLimit,
  BearerTokenFailureLimit,
  SignatureLimit,
  WaitingLimit,
} from './http/address-limits.js';
import { sendAnswer } from './http/answer-format.js';
import type { ApiLimits } from './http/api-limits.js';
import { BodyTurns } from './http/body-turns.js';
import { RequestQueue } from './http/request-queue.js';
import { createAccessControl, type AuthConfig } from './access/access-control.js';
import { Admissions, type AuthorizationEnd } from './access/admission.js';
import { tokenOfKey } from './access/authentication.js';
import { errorHandler } from './http/error-handler.js';
import { registerCrossOriginRules } from './http/cross-origin.js';
import { registerOperatorPage } from './pages/operator-page.js';
import { parseQuery } from './http/query-names.js';
import { attachContext, contextOf } from './http/request-context.js';
import { traceRequests } from './http/request-span.js';
import { LongAnswers } from './http/long-answers.js';
import type { RequestMemory } from './http/request-memory.js';
import { RouteMemory } from './http/route-memory.js';
import { refuseRepeatedHeaders } from './http/repeated-headers.js';
import { registerSwaggerPage } from './pages/swagger-page.js';
import { refuseHead, unmatched } from './http/unmatched.js';

export interface AppOptions {
  readonly host: Host;
  readonly logger: Logger;
  readonly limits: ApiLimits;
  /** Null: everything is allowed. */
  readonly auth: AuthConfig | null;
  /** Proxies that are trusted to report the address of the caller; none by default. */
  readonly trustedProxies?: readonly string[];
  /** See `cross-origin.ts`; none by default. */
  readonly allowedHosts?: readonly string[];
  readonly corsOrigins?: readonly string[];
  readonly requestMemory: RequestMemory;
  /** Default: no traces are recorded. */
  readonly tracing?: Tracing;
  /** See the setting `trace_url`. */
  readonly traceUrl?: string | null;
  /** The right of a caller has ended during a call. */
  readonly authorizationEnded?: (reason: AuthorizationEnd) => void;
}

/** @throws Error with a message if the public key or the address of a proxy is invalid */
export function createApp(options: AppOptions): Express {
  const { auth, host, limits, logger, trustedProxies = [] } = options;
  const app = express();
  app.set('trust proxy', [...trustedProxies]);
  app.disable('x-powered-by');
  // Responses are computed for each request; hashing them would only cost time.
  app.disable('etag');
  app.set('query parser', parseQuery);
  app.response.json = function json(value: unknown) {
    return sendAnswer(this, value);
  };

  const access = auth === null ? null : createAccessControl(auth, logger);
  void access?.provider?.prepare();
  const now = () => performance.now();
  const services = {
    host,
    logger,
    limits,
    access,
    admissions: createAdmissions(options),
    bearerTokenFailures: new BearerTokenFailureLimit({
      perMinuteMax: limits.wrongBearersPerMinuteMax,
      now,
    }),
    wrongSignatures: new SignatureLimit({
      perMinuteMax: limits.wrongSignaturesPerMinuteMax,
      now,
    }),
    workTokenFailures: new WorkTokenFailureLimit({
      perMinuteMax: limits.wrongTokensPerMinuteMax,
      now,
    }),
    waiting: new WaitingLimit(limits.waitingPerAddressMax),
    requests: new RequestQueue(),
    bodyTurns: new BodyTurns(),
    memory: options.requestMemory,
    routeMemory: new RouteMemory(),
    longAnswers: new LongAnswers(),
    traceUrl: options.traceUrl ?? null,
  };
  app.use(attachContext(services));
  if (options.tracing !== undefined) app.use(traceRequests(options.tracing));
  app.use(securityHeaders);
  app.use(refuseRepeatedHeaders);
  registerCrossOriginRules(app, {
    allowedHosts: options.allowedHosts ?? [],
    corsOrigins: options.corsOrigins ?? [],
    hasAccessControl: access !== null,
  });
  app.use('/api/activity', refuseHead);
  app.use('/api/stream', refuseHead);
  RegisterRoutes(app);
  registerSwaggerPage(app);
  registerOperatorPage(app, access);
  app.use(unmatched(app));
  app.use(errorHandler);
  return app;
}

function createAdmissions({
  authorizationEnded = () => undefined,
  host,
  logger,
}: AppOptions): Admissions {
  return new Admissions({
    lookUp: (apiKey) => tokenOfKey(host, apiKey),
    refuse: (error, request, response) => {
      contextOf(request).isRefused = true;
      void errorHandler(error, request, response, () => undefined);
    },
    ended: authorizationEnded,
    failed: (error) => logger.error({ err: error }, 'could not look up an API key'),
  });
}

const securityHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  // The data of runs must not be cached.
  response.setHeader('Cache-Control', 'no-store');
  next();
};
