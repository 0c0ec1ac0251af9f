/**
 * The spans of work items: one from the offer until a worker gets the item, and one while the worker has it. Each worker
 * continues the second one. Its ids are derived from the item, so that every node knows them.
 */
import type { InstanceTrace } from '../../engine/model/instance-trace.js';
import { readExecutionKey } from '../../base/ids.js';
import type { ActivityRecord } from '../../store/records/activities.js';
import { spanIdOf, writeTraceHeaders, type TraceHeaders } from '../../tracing/trace-context.js';
import type { Tracing } from '../../tracing/tracing.js';
import { contextIn, heldSpan, stepSpan, instanceAttributes } from './span-names.js';

export type TracedItem = Pick<
  ActivityRecord,
  'id' | 'instanceId' | 'name' | 'attempt' | 'createdAt'
>;

/** Called when a worker gets the item. Returns the span context that the worker continues. */
export function traceClaim(
  tracing: Tracing,
  trace: InstanceTrace,
  item: TracedItem,
  { now, workerId }: { readonly now: number; readonly workerId: string },
): TraceHeaders {
  const { attempt, createdAt, id, name } = item;
  tracing.record({
    context: contextIn(trace, spanIdOf('offered', id, attempt)),
    parentSpanId: stepIn(trace, item),
    name: `offered ${name}`,
    kind: 'producer',
    startTime: createdAt,
    endTime: now,
    attributes: {
      ...attributesOf(item),
      'stepwright.wait.reason': `activity ${name}: waited for a worker${nameOf(workerId)}`,
    },
  });
  return writeTraceHeaders(heldSpan(trace, id, attempt));
}

export interface HeldItem {
  /** Null if another node delivered it. */
  readonly since: number | null;
  readonly now: number;
  readonly end: 'completed' | 'failed' | 'released';
}

/** Called when the worker has reported a result, or returned the item. */
export function traceHeld(
  tracing: Tracing,
  trace: InstanceTrace,
  item: TracedItem & Pick<ActivityRecord, 'workerId'>,
  { end, now, since }: HeldItem,
): void {
  const { attempt, createdAt, id, name, workerId } = item;
  tracing.record({
    context: heldSpan(trace, id, attempt),
    parentSpanId: stepIn(trace, item),
    name: `held ${name}`,
    kind: 'internal',
    startTime: since ?? createdAt,
    endTime: now,
    attributes: {
      ...attributesOf(item),
      'stepwright.worker.id': workerId ?? '',
      'stepwright.wait.reason': `activity ${name}: held by a worker${nameOf(workerId ?? '')}`,
      'stepwright.activity.end': end,
    },
    ...(end === 'failed' && { errorType: 'ActivityFailed' }),
  });
}

function stepIn(trace: InstanceTrace, { id, instanceId }: TracedItem): string {
  return stepSpan(trace, instanceId, readExecutionKey(id).pointerId).spanId;
}

function attributesOf({ attempt, instanceId, name }: TracedItem) {
  return {
    ...instanceAttributes(instanceId),
    'stepwright.activity.name': name,
    'stepwright.activity.delivery': attempt,
  };
}

function nameOf(workerId: string): string {
  return workerId === '' ? '' : ` (${workerId})`;
}
