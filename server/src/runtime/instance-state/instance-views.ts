/** Instances and their steps as clients see them, derived from the stored records. */
import { failingSince } from '../../engine/failure/cause.js';
import { traitsOf } from '../../engine/definitions/step-types.js';
import { waitsForRetry } from '../../engine/flow/messages.js';
import { DEFAULT_PRIORITY } from '../../engine/model/start-options.js';
import { undoneBy } from '../../engine/session/undone-by.js';
import { childIdOf } from '../../engine/model/child-id.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import type { ParentLink, Instance } from '../../engine/model/instance.js';
import type { StepError, StepRecord } from '../../engine/model/step-record.js';
import { indexFieldsOf } from '../../engine/values/index-fields.js';
import type { Pointer } from '../../engine/model/pointer.js';
import { AppError } from '../../base/errors.js';
import type { InstanceRecord, InstanceSummary } from '../../store/records/instances.js';
import { windowEnd } from '../../engine/flow/debounce.js';
import type {
  DebounceView,
  InstanceListItem,
  InstanceView,
  ParentView,
  StartRequest,
  StepErrorView,
  StepView,
  WaitView,
  TriggerView,
} from '../model/instance-types.js';
import type { TriggerStart } from '../../engine/model/trigger.js';
import { isQueued } from './new-instance.js';
import { failureOf } from './instance-failure.js';
import { readStored } from './long-states.js';

/** @throws AppError `internal` if the stored state cannot be read */
export async function loadInstance(record: InstanceRecord): Promise<Instance> {
  try {
    return await readStored(record);
  } catch (error) {
    throw new AppError('internal', `The state of run ${record.id} cannot be read`, {
      cause: error,
    });
  }
}

export async function viewInstance(record: InstanceRecord): Promise<InstanceView> {
  return { ...listItem(record), ...viewOwn(await loadInstance(record)) };
}

/** The members that lists omit. */
function viewOwn(
  instance: Instance,
): Pick<InstanceView, 'data' | 'debounce' | 'lastError' | 'parent' | 'traceId'> {
  const { data, lastError, parent, trace } = instance;
  return {
    data,
    debounce: viewDebounce(instance),
    lastError: lastError === null ? null : viewError(lastError),
    parent: parent === null ? null : viewParent(parent),
    ...(trace !== undefined && { traceId: trace.id }),
  };
}

export function viewDebounce(
  instance: Pick<Instance, 'debounce' | 'nextPointerId' | 'pointers'>,
): DebounceView | null {
  if (instance.debounce === null) return null;
  const { data, key, latest, starts } = instance.debounce;
  return { key: key === '' ? null : key, data, until: windowEnd(instance), latest, starts };
}

function viewParent({ pointerId, stepId, workflowId }: ParentLink): ParentView {
  return { workflowId, executionId: pointerId, stepId: stepId ?? null };
}

/** A new instance before its first step. */
export function viewNew(
  id: string,
  definition: WorkflowDefinition,
  request: Omit<StartRequest, 'debounce' | 'fairness'> &
    Pick<InstanceView, 'fairness'> &
    Partial<Pick<InstanceView, 'queued' | 'debounce'>>,
  startTime: number,
): InstanceView {
  return {
    id,
    definitionId: definition.id,
    version: definition.version,
    reference: request.reference,
    tags: request.tags ?? {},
    priority: request.priority ?? DEFAULT_PRIORITY,
    fairness: request.fairness,
    queued: request.queued ?? false,
    index: indexFieldsOf(request.data, definition.index),
    status: 'Runnable',
    outcome: null,
    startTime,
    endTime: null,
    lastChangeTime: startTime,
    failureTime: null,
    failingSince: null,
    failure: null,
    data: request.data,
    debounce: request.debounce ?? null,
    lastError: null,
    parent: null,
    restartOf: request.restartOf ?? null,
    restartedAs: null,
    trigger: triggerOf(request.trigger?.start ?? null),
  };
}

/** An instance after a commit at this time, as a read from the store would return it. */
export function viewCommitted(instance: Instance, committedAt: number): InstanceView {
  return { ...committedItem(instance, committedAt), ...viewOwn(instance) };
}

export function committedItem(instance: Instance, lastChangeTime: number): InstanceListItem {
  const { definitionId, endTime, id, index, lastError, outcome, reference, tags } = instance;
  const parent = parentOf(instance.parent?.workflowId ?? null);
  const { fairness, priority, restartedAs, restartOf, startTime, status, version } = instance;
  const failures = {
    failureTime: lastError?.time ?? null,
    failingSince: lastError === null ? null : failingSince(lastError),
  };
  const times = { startTime, endTime, lastChangeTime, ...failures };
  const own = { id, definitionId, version, reference, tags, index, status, outcome, parent };
  const failure = failureOf(instance);
  const trigger = triggerOf(instance.trigger);
  const queued = endTime === null && isQueued(instance);
  return { ...own, ...times, priority, fairness, queued, failure, restartOf, restartedAs, trigger };
}

export function listItem(record: InstanceSummary): InstanceListItem {
  const { id, definitionId, version, reference, status, outcome, startTime, endTime } = record;
  const { errorAt: failureTime, failure, index, lastChangeAt: lastChangeTime, tags } = record;
  const failures = { failureTime, failingSince: record.failingSince ?? failureTime };
  const times = { startTime, endTime, lastChangeTime, ...failures };
  const parent = parentOf(record.parentId);
  const { fairness, priority, restartedAs, restartOf } = record;
  const own = {
    id,
    definitionId,
    version,
    reference,
    tags,
    index,
    status,
    outcome,
    failure,
    parent,
  };
  // Written by newRecord.
  const trigger = record.startedBy === null ? null : (JSON.parse(record.startedBy) as TriggerView);
  const queued = endTime === null && record.queued;
  return { ...own, ...times, priority, fairness, queued, restartOf, restartedAs, trigger };
}

function triggerOf(start: TriggerStart | null): TriggerView | null {
  return start === null ? null : { name: start.name, time: start.time };
}

function parentOf(workflowId: string | null): InstanceListItem['parent'] {
  return workflowId === null ? null : { workflowId };
}

/** The context of the view of a step. */
export interface ViewContext {
  readonly workflowId: string;
  /** Null if it can no longer be read. */
  readonly definition: WorkflowDefinition | null;
}

export function viewRecord(record: StepRecord, { definition, workflowId }: ViewContext): StepView {
  const names = stepNames(record.stepId, definition);
  const { error, pointerId: id } = record;
  const attempt = record.bodyAttempt ?? record.attempt;
  const hasStarted = error === null || !NO_CHILD.has(error.type);
  return {
    ...names,
    executionId: record.pointerId,
    stepId: record.stepId,
    status: record.status,
    attempt: record.attempt,
    startTime: record.startTime,
    endTime: record.endTime,
    item: record.item ?? null,
    index: record.index ?? null,
    inputs: record.inputs,
    outputs: record.outputs,
    error: record.error === null ? null : viewError(record.error),
    waitsFor: null,
    reason: record.reason ?? null,
    childWorkflowId:
      startsInstance(record.stepId, definition) && hasStarted
        ? (record.joined ?? childIdOf(workflowId, { id, attempt }))
        : null,
    compensates: record.compensates ?? null,
  };
}

/** Failures of a SubWorkflow step before its child existed. */
const NO_CHILD: ReadonlySet<string> = new Set([
  'InputError',
  'SubWorkflowFailed',
  'TooManyDescendants',
  'InvalidLimitKey',
  'UnknownLimit',
]);

/** Pointers still open when their instance ends are shown as ended, even before the node that runs it has written their end. */
export function viewPointer(
  pointer: Pointer,
  { definition, workflowId }: ViewContext,
  instance: Pick<Instance, 'cleanUp' | 'endTime' | 'pointers'>,
): StepView {
  const { endTime } = instance;
  const isOver = endTime !== null;
  return {
    ...stepNames(pointer.stepId, definition),
    executionId: pointer.id,
    stepId: pointer.stepId,
    status: isOver ? 'Cancelled' : statusOf(pointer),
    attempt: pointer.attempt,
    startTime: pointer.attemptStartedAt,
    endTime,
    item: pointer.item ?? null,
    index: pointer.index ?? null,
    inputs: pointer.inputs,
    outputs: null,
    error: pointer.error === null ? null : viewError(pointer.error),
    waitsFor: isOver ? null : waitOf(pointer),
    reason: pointer.startedBecause ?? null,
    childWorkflowId: childOf(pointer, { definition, workflowId }),
    compensates: undoneBy({ instance }, pointer)?.executionId ?? null,
  };
}

/** The child that an open SubWorkflow step has started or is about to start; null if there is none. */
function childOf(
  { attempt, id, joined, state, stepId }: Pointer,
  { definition, workflowId }: ViewContext,
): string | null {
  if (joined !== undefined) return joined;
  if (state.kind === 'child') return childIdOf(workflowId, { id, attempt });
  if (!startsInstance(stepId, definition)) return null;
  if (state.kind === 'finishing') {
    return childIdOf(workflowId, { id, attempt: state.bodyAttempt ?? attempt });
  }
  const kept = state.kind === 'sleeping' ? state.kept : undefined;
  return kept === undefined ? null : childIdOf(workflowId, { id, attempt: kept.bodyAttempt });
}

/** The names of activities that wait for a worker or its result. */
export async function activityNames(record: InstanceRecord): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const { state } of (await loadInstance(record)).pointers.values()) {
    if (state.kind === 'activity') names.add(state.name);
  }
  return names;
}

function statusOf(pointer: Pointer): StepView['status'] {
  switch (pointer.state.kind) {
    case 'ready':
      return 'Pending';
    case 'finishing':
    case 'effect':
    case 'open':
    case 'compensating':
      return 'Running';
    case 'sleeping':
    case 'queued':
    case 'event':
    case 'activity':
    case 'child':
    case 'limited':
      return 'Waiting';
  }
}

function waitOf(pointer: Pointer): WaitView | null {
  const { state } = pointer;
  switch (state.kind) {
    case 'sleeping':
      return { kind: waitsForRetry(state) ? 'retry' : 'time', until: state.until };
    case 'queued':
      return { kind: 'queue' };
    case 'limited':
      return { kind: 'limit', ...state.on, since: state.since };
    case 'event':
      return { kind: 'event', eventName: state.name, eventKey: state.key };
    case 'activity':
      return { kind: 'activity', activityName: state.name };
    case 'child':
      return { kind: 'workflow', workflowId: state.workflowId };
    case 'open':
    case 'compensating':
      return { kind: 'steps', open: pointer.children };
    case 'ready':
    case 'finishing':
    case 'effect':
      return null;
  }
}

function startsInstance(stepId: string, definition: WorkflowDefinition | null): boolean {
  const step = definition?.steps.get(stepId);
  return step !== undefined && traitsOf(step).startsInstance;
}

function stepNames(
  stepId: string,
  definition: WorkflowDefinition | null,
): { readonly stepType: string; readonly name: string | null } {
  const step = definition?.steps.get(stepId);
  return { stepType: step?.typeName ?? '', name: step?.name ?? null };
}

function viewError(error: StepError): StepErrorView {
  const { stepId, message, type, traceback, data, attempt, time } = error;
  const began = error.since !== undefined && { since: error.since };
  return { stepId, message, type, traceback, data, attempt, time, ...began };
}
