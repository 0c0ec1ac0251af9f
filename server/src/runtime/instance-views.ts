/** Instances and their steps as clients see them, from what the store keeps. */
import type { WorkflowDefinition } from '../engine/definition.js';
import type { StepError, StepRecord, WorkflowInstance } from '../engine/instance.js';
import type { JsonObject } from '../engine/json.js';
import type { Pointer } from '../engine/pointer.js';
import { readState } from '../engine/snapshot.js';
import { AppError } from '../errors.js';
import type { InstanceRecord, InstanceSummary } from '../store/store.js';
import type {
  InstanceListItem,
  InstanceView,
  StartRequest,
  StepErrorView,
  StepView,
  WaitView,
} from './host.js';

/** @throws AppError `internal` when the stored state cannot be read */
export function loadInstance(record: InstanceRecord): WorkflowInstance {
  try {
    return readState(record, record.state);
  } catch (error) {
    throw new AppError('internal', `the state of workflow ${record.id} cannot be read`, {
      cause: error,
    });
  }
}

export function viewInstance(record: InstanceRecord): InstanceView {
  const { data, lastError } = loadInstance(record);
  return {
    ...listItem(record),
    data,
    lastError: lastError === null ? null : viewError(lastError),
  };
}

/** What a start answers: the instance before its first step, however far it has come since. */
export function viewStarted(record: InstanceSummary, data: JsonObject): InstanceView {
  const { startTime } = record;
  const fresh = { endTime: null, lastChangeTime: startTime, failureTime: null, lastError: null };
  return { ...listItem(record), status: 'Runnable', ...fresh, data };
}

/** A new instance before its first step. */
export function viewNew(
  id: string,
  definition: WorkflowDefinition,
  request: StartRequest,
  startTime: number,
): InstanceView {
  return {
    id,
    definitionId: definition.id,
    version: definition.version,
    reference: request.reference,
    status: 'Runnable',
    startTime,
    endTime: null,
    lastChangeTime: startTime,
    failureTime: null,
    data: request.data,
    lastError: null,
  };
}

export function listItem(record: InstanceSummary): InstanceListItem {
  const { id, definitionId, version, reference, status, startTime, endTime } = record;
  const { errorAt: failureTime, lastChangeAt: lastChangeTime } = record;
  const times = { startTime, endTime, lastChangeTime, failureTime };
  return { id, definitionId, version, reference, status, ...times };
}

export function viewRecord(record: StepRecord, definition: WorkflowDefinition | null): StepView {
  return {
    ...stepNames(record.stepId, definition),
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
  };
}

/** What is open at the end of its instance is over, also where the node that runs it has not written that yet. */
export function viewPointer(
  pointer: Pointer,
  definition: WorkflowDefinition | null,
  instanceEndTime: number | null,
): StepView {
  const isOver = instanceEndTime !== null;
  return {
    ...stepNames(pointer.stepId, definition),
    executionId: pointer.id,
    stepId: pointer.stepId,
    status: isOver ? 'Cancelled' : statusOf(pointer),
    attempt: pointer.attempt,
    startTime: pointer.attemptStartedAt,
    endTime: instanceEndTime,
    item: pointer.item ?? null,
    index: pointer.index ?? null,
    inputs: pointer.inputs,
    outputs: null,
    error: pointer.error === null ? null : viewError(pointer.error),
    waitsFor: isOver ? null : waitOf(pointer),
  };
}

/** Of the activities that wait for a worker or its result. */
export function activityNames(record: InstanceRecord): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { state } of loadInstance(record).pointers.values()) {
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
    case 'event':
    case 'activity':
    case 'child':
      return 'Waiting';
  }
}

function waitOf(pointer: Pointer): WaitView | null {
  const { state } = pointer;
  switch (state.kind) {
    case 'sleeping':
      return { kind: state.reason === 'retry' ? 'retry' : 'time', until: state.until };
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

function stepNames(
  stepId: string,
  definition: WorkflowDefinition | null,
): { readonly stepType: string; readonly name: string | null } {
  const step = definition?.steps.get(stepId);
  return { stepType: step?.typeName ?? '', name: step?.name ?? null };
}

function viewError(error: StepError): StepErrorView {
  const { stepId, message, type, traceback, data, attempt, time } = error;
  return { stepId, message, type, traceback, data, attempt, time };
}
