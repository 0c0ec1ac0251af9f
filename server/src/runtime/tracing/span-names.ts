/** The spans of an instance that several parts of the server refer to. */
import type { InstanceTrace } from '../../engine/model/instance-trace.js';
import { spanIdOf, type TraceContext } from '../../tracing/trace-context.js';
import type { SpanAttributes } from '../../tracing/tracing.js';

/** The instance from its start to its end. */
export function instanceSpan(trace: InstanceTrace, workflowId: string): TraceContext {
  return contextIn(trace, spanIdOf('instance', workflowId));
}

/** One execution of a step, with all its attempts. */
export function stepSpan(
  trace: InstanceTrace,
  workflowId: string,
  pointerId: number,
): TraceContext {
  return contextIn(trace, spanIdOf('step', workflowId, pointerId));
}

/** The time for which a worker holds a work item; the worker's own spans are inside it. */
export function heldSpan(trace: InstanceTrace, activityId: string, attempt: number): TraceContext {
  return contextIn(trace, spanIdOf('held', activityId, attempt));
}

export function contextIn(trace: InstanceTrace, spanId: string): TraceContext {
  const { id, random, sampled, state } = trace;
  return {
    traceId: id,
    spanId,
    sampled,
    ...(random !== undefined && { random }),
    ...(state !== undefined && { state }),
  };
}

/** The attributes to find the spans of an instance by. */
export function instanceAttributes(workflowId: string, definitionId?: string): SpanAttributes {
  return {
    'stepwright.workflow.id': workflowId,
    ...(definitionId !== undefined && { 'stepwright.definition.id': definitionId }),
  };
}

/** The ids that link logs and traces. */
export function stepLogFields(
  trace: InstanceTrace | undefined,
  workflowId: string,
  pointerId: number,
): { readonly trace_id?: string; readonly span_id?: string } {
  if (trace === undefined) return {};
  return { trace_id: trace.id, span_id: stepSpan(trace, workflowId, pointerId).spanId };
}
