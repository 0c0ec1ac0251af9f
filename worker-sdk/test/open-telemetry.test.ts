import * as api from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  StackContextManager,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ActivityFailure, openTelemetry, type ActivityContext } from '../src/index.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('the middleware openTelemetry', () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });

  beforeAll(() => {
    api.trace.setGlobalTracerProvider(provider);
    api.context.setGlobalContextManager(new StackContextManager().enable());
    api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  });

  beforeEach(() => exporter.reset());

  afterAll(async () => {
    await provider.shutdown();
    api.trace.disable();
    api.context.disable();
    api.propagation.disable();
  });

  const run = (handler: () => unknown, traceparent?: string): unknown =>
    openTelemetry(api)({ parameters: null, context: contextWith(traceparent) }, async () =>
      handler(),
    );

  it('records a span inside the one of the server, which is active in the handler', async () => {
    const active = await run(
      () => api.trace.getSpan(api.context.active())?.spanContext(),
      `00-${TRACE}-${SPAN}-01`,
    );
    const [span, ...others] = exporter.getFinishedSpans();
    expect(others).toEqual([]);
    expect(span?.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: SPAN });
    expect(span?.spanContext()).toMatchObject({ traceId: TRACE });
    expect(active).toEqual(span?.spanContext());
    expect(span).toMatchObject({
      name: 'charge',
      kind: api.SpanKind.CONSUMER,
      attributes: { 'stepwright.workflow.id': 'w-1', 'stepwright.step.id': 'pay' },
      status: { code: api.SpanStatusCode.UNSET },
    });
  });

  it('continues the state of the tracing systems before', async () => {
    const context = { ...contextWith(`00-${TRACE}-${SPAN}-01`), tracestate: 'foo=1,bar=2' };
    await openTelemetry(api)({ parameters: null, context }, () => Promise.resolve(null));
    const [span] = exporter.getFinishedSpans();
    expect(span?.spanContext().traceState?.serialize()).toBe('foo=1,bar=2');
  });

  it('marks failures, without their messages, and passes them on', async () => {
    const failure = new ActivityFailure('secret-reason');
    await expect(
      run(() => {
        throw failure;
      }, `00-${TRACE}-${SPAN}-01`),
    ).rejects.toBe(failure);
    const [span] = exporter.getFinishedSpans();
    expect(span?.status).toEqual({ code: api.SpanStatusCode.ERROR, message: 'ActivityFailure' });
    expect(span?.events).toEqual([]);
  });

  it('begins a trace of its own without a trace of the server', async () => {
    await run(() => null);
    const [span] = exporter.getFinishedSpans();
    expect(span?.parentSpanContext).toBeUndefined();
  });
});

function contextWith(traceparent: string | undefined): ActivityContext {
  const silent = (): void => undefined;
  return {
    activityName: 'charge',
    workflowId: 'w-1',
    stepId: 'pay',
    executionId: 1,
    idempotencyKey: 'w-1/1',
    ...(traceparent !== undefined && { traceparent }),
    attempt: 1,
    signal: new AbortController().signal,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    heartbeat: () => Promise.resolve(),
  };
}
