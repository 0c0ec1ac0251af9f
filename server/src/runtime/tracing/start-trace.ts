/**
 * The trace of a new instance: that of the request that started it, or a trace of its own. A child has a trace of its own,
 * too, which is linked with the step that started it: a tree of thousands of instances would be too large for one trace.
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

/** With the span of the request. */
export interface TracedStart extends TraceHeaders {
  readonly id: string;
  readonly definitionId: string;
  readonly startTime: number;
}

/** To be spread into the start of an instance. */
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
  /** Of the parent. */
  readonly trace?: InstanceTrace;
}

/** The same for a child: whoever follows the link from the parent finds its trace. */
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
