/** The start of an instance, and the control actions of users on the whole instance. */
import type { WorkflowDefinition } from '../model/definition.js';
import { withdrawAnnouncement } from './end-instance.js';
import { completeIfDone } from './end-path.js';
import { terminate } from '../failure/error-behaviors.js';
import { cutOff } from '../failure/in-flight.js';
import {
  isEnded,
  type InstanceStatus,
  type ParentLink,
  type WorkflowInstance,
} from '../model/instance.js';
import type { InstanceTrace } from '../model/instance-trace.js';
import type { Tags } from '../model/tags.js';
import type { TriggerStart } from '../model/trigger.js';
import { jsonLength } from '../values/json-length.js';
import { NO_INDEX, NO_TAGS } from '../values/index-fields.js';
import type { JsonObject } from '../values/json.js';
import { delayStart } from './pointer-states.js';
import { openPointer } from './pointers.js';
import { createRun, type Run } from './run.js';
import { settle } from './settle.js';

export interface StartOptions {
  readonly id: string;
  readonly data: JsonObject;
  readonly reference: string | null;
  readonly parent: ParentLink | null;
  /** Default: none. */
  readonly tags?: Tags;
  /** The instance that this one is started again from. Default: none. */
  readonly restartOf?: string;
  /** The trigger that starts it. Default: none. */
  readonly trigger?: TriggerStart;
  /** Default: none. */
  readonly trace?: InstanceTrace;
  /** When the first step runs; null or a time in the past: immediately. */
  readonly startAt?: number | null;
}

/** Creates a new instance, before its first step. */
export function startRun(definition: WorkflowDefinition, start: StartOptions, now: number): Run {
  const instance: WorkflowInstance = {
    id: start.id,
    definitionId: definition.id,
    version: definition.version,
    reference: start.reference,
    tags: start.tags ?? NO_TAGS,
    index: NO_INDEX,
    restartOf: start.restartOf ?? null,
    restartedAs: null,
    trigger: start.trigger ?? null,
    ...(start.trace !== undefined && { trace: start.trace }),
    startTime: now,
    parent: start.parent,
    status: 'Runnable',
    endTime: null,
    outcome: null,
    isCompensated: false,
    data: start.data,
    pointers: new Map(),
    queue: new Set(),
    nextPointerId: 1,
    taken: new Map(),
    lastError: null,
    lostError: null,
    spilled: 0,
    recent: [],
    outbox: [],
    told: 'new',
    joinedBy: [],
    completed: [],
    completedItemsLength: 0,
    forgotten: 0,
    cleanUp: null,
    answers: [],
    stepsWithoutWait: 0,
  };
  const run = createRun(definition, instance, now);
  run.grown = jsonLength(start.data);
  const entry = openPointer(run, definition.entryStepId, { parentId: null });
  const { startAt = null } = start;
  if (startAt !== null && startAt > now) delayStart(run, entry, startAt);
  return run;
}

/** Continues a stored instance. Its status may have changed while no node had it in memory. */
export function takeUpRun(
  definition: WorkflowDefinition,
  instance: WorkflowInstance,
  now: number,
): Run {
  const run = createRun(definition, instance, now);
  endInterrupted(run);
  if (instance.status === 'Runnable') completeIfDone(run);
  if (instance.status === 'Terminated' && instance.pointers.size > 0) {
    terminate(run, instance.endTime ?? now, 'Terminated');
  }
  return run;
}

/** Calls whose result was waited for have ended with the node that made them. */
function endInterrupted(run: Run): void {
  if (isEnded(run.instance)) return;
  const interrupted = [...run.instance.pointers.values()].filter(
    ({ isEnding, state }) => isEnding === true && state.kind === 'effect',
  );
  for (const pointer of interrupted) cutOff(run, pointer, 'the server stopped during the call');
  if (interrupted.length > 0) settle(run);
}

/** Applies a status that was changed externally. It takes precedence over what the run reached itself. */
export function applyStatus(run: Run, status: InstanceStatus, at: number): void {
  const { instance } = run;
  // A step error that ended the instance stays: nothing remains that could be suspended or resumed.
  if (instance.status === 'Terminated' && status !== 'Terminated') return;
  switch (status) {
    case 'Suspended':
      instance.status = 'Suspended';
      instance.endTime = null;
      instance.outcome = null;
      withdrawAnnouncement(instance);
      break;
    case 'Runnable':
      instance.status = 'Runnable';
      instance.stepsWithoutWait = 0;
      completeIfDone(run);
      break;
    case 'Terminated':
      terminate(run, at, 'Terminated');
      break;
    case 'Complete':
      // Only the engine completes an instance.
      break;
  }
  run.dirty = true;
}

/** Suspends a misbehaving instance as a whole; a resume lets it continue. */
export function haltRun(run: Run, type: string, message: string): void {
  const { instance } = run;
  const [pointerId] = run.queue;
  const pointer = pointerId === undefined ? undefined : instance.pointers.get(pointerId);
  instance.status = 'Suspended';
  instance.stepsWithoutWait = 0;
  instance.lastError = {
    stepId: pointer?.stepId ?? '',
    pointerId: pointer?.id ?? 0,
    type,
    message,
    traceback: null,
    data: null,
    attempt: pointer?.attempt ?? 1,
    time: run.now,
  };
  run.dirty = true;
}
