/** The span of a step's body: an HTTP call, or a script. */
import { traitsOf } from '../../engine/definitions/step-types.js';
import type { EffectResult } from '../../engine/flow/messages.js';
import { stepOf, type Session } from '../../engine/session/session.js';
import type { Pointer } from '../../engine/model/pointer.js';
import type { Clock } from '../../base/clock.js';
import type { CallTrace, SentRequest } from '../../step-bodies/step-body.js';
import { writeTraceHeaders } from '../../tracing/trace-context.js';
import type { SpanAttributes, Tracing } from '../../tracing/tracing.js';
import { stepSpan, instanceAttributes } from './span-names.js';

interface TracedCall {
  readonly tracing: Tracing | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly session: Session;
  readonly pointer: Pointer;
}

export async function traceCall(
  { clock, pointer, session, tracing }: TracedCall,
  call: (trace: CallTrace | undefined) => Promise<EffectResult>,
): Promise<EffectResult> {
  const { instance } = session;
  const { trace } = instance;
  if (tracing === undefined || trace === undefined) return call(undefined);
  const step = stepSpan(trace, instance.id, pointer.id);
  const context = { ...tracing.begin(step), sampled: trace.sampled };
  const headers = writeTraceHeaders(context);
  if (!trace.sampled) return call(headers);
  const startTime = clock.now();
  const { attempt, stepId } = pointer;
  const definition = stepOf(session, pointer);
  let sent: SentRequest | null = null;
  const result = await call({ ...headers, sent: (request) => (sent = request) });
  const isHttp = traitsOf(definition).body === 'http';
  const failure = failureOf(result, sent);
  tracing.record({
    context,
    parentSpanId: step.spanId,
    name: isHttp ? (methodOf(sent) ?? 'HTTP') : `script ${definition.typeName}`,
    kind: isHttp ? 'client' : 'internal',
    startTime,
    endTime: clock.now(),
    attributes: {
      ...instanceAttributes(instance.id, instance.definitionId),
      'stepwright.step.id': stepId,
      'stepwright.step.attempt': attempt,
      ...attributesOf(sent),
    },
    ...(failure !== null && { errorType: failure }),
  });
  return result;
}

function methodOf(sent: SentRequest | null): string | null {
  return sent?.method ?? null;
}

/** Omits path and query, which may contain confidential data. */
function attributesOf(sent: SentRequest | null): SpanAttributes {
  if (sent === null) return {};
  const { method, origin, statusCode } = sent;
  // Masked origins may not be valid URLs.
  const url = URL.canParse(origin) ? new URL(origin) : null;
  const status = statusCode === 0 ? {} : { 'http.response.status_code': statusCode };
  if (url === null) return { 'http.request.method': method, ...status };
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return {
    'http.request.method': method,
    'url.scheme': url.protocol.slice(0, -1),
    'server.address': url.hostname,
    'server.port': port,
    ...status,
  };
}

/** As in the semantic conventions, a client span has failed from status 400 on, even if the step accepts the response. */
function failureOf(result: EffectResult, sent: SentRequest | null): string | null {
  if (sent !== null && sent.statusCode >= 400) return String(sent.statusCode);
  if (!result.ok) return result.failure.type;
  return sent?.statusCode === 0 ? 'no_response' : null;
}
