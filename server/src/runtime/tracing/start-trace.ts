/**
 * The trace of a new instance: the trace of the request that started it, or a new one. A child also gets a new trace, linked to
 * the step that started it: a tree of thousands of instances would be too large for one trace.
 */
import type { InstanceTrace } from '../../engine/model/instance-trace.js';
import type { ParentLink } from '../../engine/model/instance.js';
import {
  readTraceHeaders,
  spanIdOf,
  traceIdOf,
  type TraceContext,
  type TraceHeaders,
} from '../../tracing/trace-context.js';
import type { Tracing } from '../../tracing/tracing.js';
import { stepSpan, instanceAttributes } from './span-names.js';

/** Includes the request's span. */
export interface TracedStart extends TraceHeaders {
  readonly id: string;
  readonly definitionId: string;
  readonly startTime: number;
}

/** Members to spread into the start of an instance. */
export function traceStart(
  tracing: Tracing | undefined,
  { definitionId, id: workflowId, startTime, ...headers }: TracedStart,
): { readonly trace?: InstanceTrace } {
  if (tracing === undefined) return {};
  const request = readTraceHeaders(headers);
  if (request !== null) {
    const { spanId, traceId, ...flags } = request;
    return { trace: { id: traceId, start: spanId, ...flags } };
  }
  const context = childStart(workflowId);
  const sampled = tracing.decides(context.traceId);
  return {
    trace: recordStart(tracing, { workflowId, definitionId, startTime, sampled, links: [] }),
  };
}

export interface TracedChild {
  readonly workflowId: string;
  readonly definitionId: string;
  readonly startTime: number;
  readonly parent: ParentLink;
  /** The parent's trace. */
  readonly trace?: InstanceTrace;
}

/** Like `traceStart`, for a child: its trace is linked from the parent. */
export function traceChild(
  tracing: Tracing | undefined,
  { parent, trace, ...child }: TracedChild,
): { readonly trace?: InstanceTrace } {
  if (tracing === undefined) return {};
  const links = trace === undefined ? [] : [stepSpan(trace, parent.workflowId, parent.pointerId)];
  const { traceId } = childStart(child.workflowId);
  const sampled = trace?.sampled ?? tracing.decides(traceId);
  return { trace: recordStart(tracing, { ...child, sampled, links }) };
}

function recordStart(
  tracing: Tracing,
  start: Pick<TracedChild, 'workflowId' | 'definitionId' | 'startTime'> & {
    readonly sampled: boolean;
    readonly links: readonly TraceContext[];
  },
): InstanceTrace {
  const { definitionId, links, sampled, startTime, workflowId } = start;
  const context = { ...childStart(workflowId), sampled };
  tracing.record({
    context,
    parentSpanId: null,
    name: `start ${definitionId}`,
    kind: 'internal',
    startTime,
    endTime: startTime,
    attributes: instanceAttributes(workflowId, definitionId),
    links,
  });
  return { id: context.traceId, start: context.spanId, sampled };
}

/** The span that started an instance without a request, such as a child. */
export function childStart(workflowId: string): TraceContext {
  return {
    traceId: traceIdOf('trace', workflowId),
    spanId: spanIdOf('start', workflowId),
    sampled: true,
  };
}
