/** Middleware that continues the trace of the run in the worker, with the OpenTelemetry API of the program. */
import type { Middleware } from './run-handler.js';

/** The part of `@opentelemetry/api` that the middleware needs. This package doesn't depend on it. */
export interface OpenTelemetryApi<Context, Span extends ActivitySpan> {
  readonly context: {
    active(): Context;
    with<Result>(context: Context, run: () => Result): Result;
  };
  readonly propagation: {
    extract(
      context: Context,
      carrier: { readonly traceparent: string; readonly tracestate?: string },
    ): Context;
  };
  readonly trace: {
    getTracer(name: string): {
      startSpan(name: string, options: SpanSettings, context: Context): Span;
    };
    setSpan(context: Context, span: Span): Context;
  };
}

/** A span that is being recorded. */
export interface ActivitySpan {
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(): void;
}

/** The options of a new span. */
export interface SpanSettings {
  readonly kind: number;
  readonly attributes: Record<string, string | number>;
}

/** SpanKind.CONSUMER */
const CONSUMER = 4;
/** SpanStatusCode.ERROR */
const ERROR = 2;

/**
 * Records a span for each activity, inside the server's span, and makes it the active span of the handler, so that the handler's
 * calls belong to the run's trace. Start your program's OpenTelemetry SDK before the worker.
 *
 * @example
 * ```ts
 * import * as api from '@opentelemetry/api';
 * import { openTelemetry, Worker } from '@stepwright/worker-sdk';
 *
 * const worker = new Worker({
 *   baseUrl: 'http://127.0.0.1:5001',
 *   activities: { greet: ({ name }: { name: string }) => `Hello ${name}` },
 * });
 * worker.use(openTelemetry(api));
 * ```
 */
export function openTelemetry<Context, Span extends ActivitySpan>(
  api: OpenTelemetryApi<Context, Span>,
): Middleware {
  const tracer = api.trace.getTracer('@stepwright/worker-sdk');
  return ({ context: activity }, next) => {
    const { activityName, attempt, stepId, traceparent, tracestate, workflowId } = activity;
    const around = api.context.active();
    const carrier = tracestate === undefined ? {} : { tracestate };
    const parent =
      traceparent === undefined
        ? around
        : api.propagation.extract(around, { traceparent, ...carrier });
    const attributes = {
      'stepwright.workflow.id': workflowId,
      'stepwright.step.id': stepId,
      'stepwright.activity.name': activityName,
      'stepwright.activity.delivery': attempt,
    };
    const span = tracer.startSpan(activityName, { kind: CONSUMER, attributes }, parent);
    return api.context.with(api.trace.setSpan(parent, span), async () => {
      try {
        return await next();
      } catch (error) {
        // Only the class: messages may contain data.
        const type = error instanceof Error ? error.name : 'NonError';
        span.setStatus({ code: ERROR, message: type });
        throw error;
      } finally {
        span.end();
      }
    });
  };
}
