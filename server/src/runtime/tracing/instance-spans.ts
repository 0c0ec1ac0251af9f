/**
 * The spans of instances, recorded after the commit of their contents (R2): steps with their attempts, waits with the reason
 * from `explain`, passes, and the instance as a whole.
 *
 * A node that dies loses its unsent spans. The node that takes over the instance records the steps that the instance still
 * contains again: they have the same ids, so a backend shows them once.
 */
import type { EndedAttempt, EndedWait } from '../../engine/session/session.js';
import { traitsOf } from '../../engine/definitions/step-types.js';
import { childIdOf } from '../../engine/model/child-id.js';
import { isEnded, type Instance } from '../../engine/model/instance.js';
import type { InstanceTrace } from '../../engine/model/instance-trace.js';
import type { StepRecord } from '../../engine/model/step-record.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { readTraceparent, spanIdOf, type TraceContext } from '../../tracing/trace-context.js';
import type { FinishedSpan, SpanAttributes, SpanEvent, Tracing } from '../../tracing/tracing.js';
import { contextIn, instanceSpan, stepSpan, instanceAttributes } from './span-names.js';
import { childStart } from './start-trace.js';
import { waitReason } from './wait-reason.js';

/** Maximum length of an error type in a span: authors choose some of them. */
const TYPE_LENGTH_MAX = 100;

type EndedStep = Pick<EndedAttempt, 'record' | 'startsInstance' | 'type'>;

export interface CommittedWork {
  readonly endedAttempts: readonly EndedAttempt[];
  readonly endedWaits: readonly EndedWait[];
}

export class InstanceSpans {
  readonly #tracing: Tracing;

  constructor(tracing: Tracing) {
    this.#tracing = tracing;
  }

  /** @param since since the start of the committed work; null: unknown */
  committed(
    instance: Instance,
    { endedAttempts, endedWaits }: CommittedWork,
    { now, since }: { readonly now: number; readonly since: number | null },
  ): void {
    const { trace } = instance;
    if (trace?.sampled !== true) return;
    for (const wait of endedWaits) this.#tracing.record(waitSpan(instance, trace, wait));
    const ended = new Map(endedAttempts.map((attempt) => [attempt.record.pointerId, attempt]));
    for (const attempt of ended.values()) this.#step(instance, trace, attempt);
    this.#pass(instance, trace, {
      startTime: since ?? now,
      endTime: now,
      steps: endedAttempts.length,
    });
    if (isEnded(instance)) this.#instance(instance, trace);
  }

  /** Called when the instance was taken over from another node, which may have died before it sent its spans. */
  takenOver(instance: Instance, definition: WorkflowDefinition): void {
    const { trace } = instance;
    if (trace?.sampled !== true) return;
    const newest = new Map(instance.recent.map((record) => [record.pointerId, record]));
    for (const record of newest.values()) {
      const step = definition.steps.get(record.stepId);
      const startsInstance = step !== undefined && traitsOf(step).startsInstance;
      this.#step(instance, trace, { record, type: step?.typeName ?? '', startsInstance });
    }
  }

  /** A step that is still open will be tried again. */
  #step(
    instance: Instance,
    trace: InstanceTrace,
    { record, startsInstance, type }: EndedStep,
  ): void {
    if (instance.pointers.has(record.pointerId)) return;
    const attempts = attemptsOf(instance, record);
    const parent =
      record.within === undefined
        ? instanceSpan(trace, instance.id)
        : stepSpan(trace, instance.id, record.within);
    this.#tracing.record({
      context: stepSpan(trace, instance.id, record.pointerId),
      parentSpanId: parent.spanId,
      name: record.stepId,
      kind: 'internal',
      startTime: attempts[0]?.startTime ?? record.startTime,
      endTime: record.endTime,
      attributes: { ...ownAttributes(instance), ...stepAttributes(record, type) },
      events: attempts.flatMap(attemptEvents),
      links: startsInstance ? childLinks(instance.id, record) : [],
      ...failedWith(record.status === 'Failed' ? record.error?.type : undefined),
    });
  }

  #pass(
    instance: Instance,
    trace: InstanceTrace,
    pass: Pick<FinishedSpan, 'startTime' | 'endTime'> & { readonly steps: number },
  ): void {
    const parent = instanceSpan(trace, instance.id);
    const { endTime, startTime, steps } = pass;
    this.#tracing.record({
      context: { ...this.#tracing.begin(parent), sampled: true },
      parentSpanId: parent.spanId,
      name: 'pass',
      kind: 'internal',
      startTime,
      endTime,
      attributes: { ...ownAttributes(instance), 'stepwright.pass.attempts': steps },
    });
  }

  #instance(instance: Instance, trace: InstanceTrace): void {
    const { definitionId, endTime, id, lastError, outcome, startTime, version } = instance;
    const type = lastError?.type ?? 'Failed';
    this.#tracing.record({
      context: instanceSpan(trace, id),
      parentSpanId: trace.start,
      name: `run ${definitionId}`,
      kind: 'internal',
      startTime,
      endTime: endTime ?? startTime,
      attributes: {
        ...ownAttributes(instance),
        'stepwright.definition.version': version,
        'stepwright.workflow.outcome': outcome ?? '',
      },
      ...failedWith(outcome === 'Failed' ? type : undefined),
    });
  }
}

function ownAttributes({ definitionId, id }: Instance): SpanAttributes {
  return instanceAttributes(id, definitionId);
}

/** All known attempts of the execution, oldest first. */
function attemptsOf({ recent }: Instance, record: StepRecord): readonly StepRecord[] {
  if (record.attempt === 1) return [record];
  const earlier = recent.filter(
    ({ attempt, pointerId }) => pointerId === record.pointerId && attempt < record.attempt,
  );
  return [...earlier, record];
}

function stepAttributes(record: StepRecord, type: string): SpanAttributes {
  return {
    'stepwright.step.id': record.stepId,
    'stepwright.step.type': type,
    'stepwright.step.status': record.status,
    'stepwright.step.attempt': record.attempt,
    'stepwright.step.execution': record.pointerId,
    ...(record.index !== undefined && { 'stepwright.step.index': record.index }),
  };
}

function attemptEvents({ attempt, endTime, error, startTime, status }: StepRecord): SpanEvent[] {
  const number = { 'stepwright.step.attempt': attempt };
  const type = error === null ? {} : { 'error.type': error.type.slice(0, TYPE_LENGTH_MAX) };
  return [
    { name: 'attempt started', time: startTime, attributes: number },
    { name: `attempt ${WORDS[status]}`, time: endTime, attributes: { ...number, ...type } },
  ];
}

/** Parts of event names; the spelling of `cancelled` is the wire's. */
const WORDS: Readonly<Record<StepRecord['status'], string>> = {
  Complete: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled',
  Compensated: 'compensated',
};

/** A child that was joined instead of started may have a trace unknown to this node. */
function childLinks(
  workflowId: string,
  { attempt, bodyAttempt, joined, pointerId: id }: StepRecord,
): readonly TraceContext[] {
  if (joined !== undefined) return [];
  return [childStart(childIdOf(workflowId, { id, attempt: bodyAttempt ?? attempt }))];
}

function failedWith(type: string | undefined): Pick<FinishedSpan, 'errorType'> {
  return type === undefined ? {} : { errorType: type.slice(0, TYPE_LENGTH_MAX) };
}

function waitSpan(
  instance: Instance,
  trace: InstanceTrace,
  { endedBy, pointer, until }: EndedWait,
): FinishedSpan {
  const { kind, since, text } = waitReason(instance, pointer, until);
  const publisher = endedBy === null ? null : readTraceparent(endedBy);
  return {
    context: contextIn(
      trace,
      spanIdOf('wait', instance.id, pointer.id, pointer.attempt, since, kind),
    ),
    parentSpanId: stepSpan(trace, instance.id, pointer.id).spanId,
    name: `wait ${kind}`,
    kind: 'internal',
    startTime: since,
    endTime: until,
    attributes: {
      ...ownAttributes(instance),
      'stepwright.step.id': pointer.stepId,
      'stepwright.step.attempt': pointer.attempt,
      'stepwright.wait.reason': text,
    },
    ...(publisher !== null && { links: [publisher] }),
  };
}
