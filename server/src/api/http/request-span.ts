/**
 * The span of a request, in the trace of its caller. Requests that only read begin no trace of their own: the operator's page
 * and polling workers make too many of them.
 */
import type { Request, RequestHandler, Response } from 'express';
import { readTraceHeaders, type TraceContext } from '../../tracing/trace-context.js';
import type { Tracing } from '../../tracing/tracing.js';
import { contextOf } from './request-context.js';

const CHANGES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

export function traceRequests(tracing: Tracing): RequestHandler {
  return (request, response, next) => {
    const parent = readTraceHeaders({
      traceparent: request.get('traceparent'),
      tracestate: request.get('tracestate'),
    });
    if (parent !== null || CHANGES.has(request.method)) {
      const span = tracing.begin(parent);
      contextOf(request).trace = span;
      if (span.sampled) {
        recordAtEnd(tracing, { request, response, parent, span });
        if (tracing.storeCalls !== null) {
          tracing.storeCalls.within(span, (end) => {
            response.once('close', end);
            next();
          });
          return;
        }
      }
    }
    next();
  };
}

interface TracedRequest {
  readonly request: Request;
  readonly response: Response;
  readonly parent: TraceContext | null;
  readonly span: TraceContext;
}

function recordAtEnd(tracing: Tracing, { parent, request, response, span }: TracedRequest): void {
  const startTime = Date.now();
  response.once('close', () => {
    const { method, protocol } = request;
    const { statusCode } = response;
    const route = routeOf(request);
    // Paths contain ids and tokens; the route does not.
    tracing.record({
      context: span,
      parentSpanId: parent?.spanId ?? null,
      name: route === null ? method : `${method} ${route}`,
      kind: 'server',
      startTime,
      endTime: Date.now(),
      attributes: {
        'http.request.method': method,
        'url.scheme': protocol,
        'http.response.status_code': statusCode,
        ...(route !== null && { 'http.route': route }),
      },
      ...(statusCode >= 500 && { errorType: String(statusCode) }),
    });
  });
}

/** Null: nothing is there. */
function routeOf({ route }: Request): string | null {
  // Express declares the route as `any`.
  const { path } = (route ?? {}) as { readonly path?: unknown };
  return typeof path === 'string' ? path : null;
}
