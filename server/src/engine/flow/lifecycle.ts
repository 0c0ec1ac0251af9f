/** The start of an instance, and the control actions of users on the whole instance. */
import type { WorkflowDefinition } from '../model/definition.js';
import { withdrawAnnouncement } from '../session/end-instance.js';
import { completeIfDone } from '../session/end-path.js';
import { terminate } from '../failure/error-behaviors.js';
import { cutOff } from '../failure/in-flight.js';
import { collectedFrom, type StartDebounce } from '../model/debounce.js';
import { isEnded, type InstanceStatus, type ParentLink, type Instance } from '../model/instance.js';
import type { InstanceTrace } from '../model/instance-trace.js';
import { DEFAULT_PRIORITY, type Fairness, type Priority } from '../model/start-options.js';
import type { Tags } from '../values/tags.js';
import type { QueueReason } from '../model/pointer.js';
import type { TriggerStart } from '../model/trigger.js';
import { jsonLength } from '../values/json-length.js';
import { NO_INDEX, NO_TAGS } from '../values/index-fields.js';
import type { JsonObject } from '../values/json.js';
import { askForPlaces, delayStart, queueStart } from '../session/pointer-states.js';
import { openPointer } from '../session/pointers.js';
import { createSession, type Session } from '../session/session.js';
import { askForSlots, suspend } from '../session/slot-waits.js';
import { continueContainers } from '../primitives/continue-containers.js';
import { openWindow } from './debounce.js';

export interface StartOptions {
  readonly id: string;
  readonly data: JsonObject;
  readonly reference: string | null;
  readonly parent: ParentLink | null;
  /** Default: none. */
  readonly tags?: Tags;
  readonly priority?: Priority;
  /** Default: none. */
  readonly fairness?: Fairness | null;
  /** The instance that this one restarts. Default: none. */
  readonly restartOf?: string;
  /** The trigger that starts it. Default: none. */
  readonly trigger?: TriggerStart;
  /** Default: none. */
  readonly trace?: InstanceTrace;
  /** When the first step runs; null or a time in the past: immediately. */
  readonly startAt?: number | null;
  /** What it waits for, from `startAt` on. Default: nothing. */
  readonly queues?: QueueReason | undefined;
  /** Further starts join it until `startAt`. Default: none. */
  readonly debounce?: StartDebounce;
  /** The data as given by the caller. Default: `data`. */
  readonly input?: JsonObject;
  /** Default: null. */
  readonly concurrencyKey?: string | null;
}

/** Creates a new instance and its session, before the first step. */
export function startSession(
  definition: WorkflowDefinition,
  start: StartOptions,
  now: number,
): Session {
  const { debounce, input = start.data } = start;
  const data = collectedFrom(debounce, start.data);
  const instance: Instance = {
    id: start.id,
    definitionId: definition.id,
    version: definition.version,
    reference: start.reference,
    concurrencyKey: start.concurrencyKey ?? null,
    tags: start.tags ?? NO_TAGS,
    priority: start.priority ?? DEFAULT_PRIORITY,
    fairness: start.fairness ?? null,
    index: NO_INDEX,
    restartOf: start.restartOf ?? null,
    restartedAs: null,
    trigger: start.trigger ?? null,
    debounce:
      debounce === undefined ? null : openWindow(debounce, { first: start.data, input, now }),
    ...(start.trace !== undefined && { trace: start.trace }),
    startTime: now,
    parent: start.parent,
    status: 'Runnable',
    endTime: null,
    outcome: null,
    isCompensated: false,
    data,
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
  const session = createSession(definition, instance, now);
  session.grown = jsonLength(data);
  const entry = openPointer(session, definition.entryStepId, { parentId: null });
  const { queues, startAt = null } = start;
  if (startAt !== null && startAt > now) delayStart(session, entry, startAt, queues);
  else if (queues !== undefined) queueStart(session, entry, { at: now, queues });
  return session;
}

/** Continues a stored instance. Its status may have changed while no node had it in memory. */
export function restoreSession(
  definition: WorkflowDefinition,
  instance: Instance,
  now: number,
): Session {
  const session = createSession(definition, instance, now);
  endInterrupted(session);
  if (instance.status === 'Runnable') {
    completeIfDone(session);
    // It may have been resumed in between: while it's suspended, others get the places.
    askForPlaces(session);
    askForSlots(session);
  }
  if (instance.status === 'Terminated' && !hasAnnouncedEnd(instance)) {
    terminate(session, instance.endTime ?? now, 'Terminated');
  }
  return session;
}

/** An instance that was suspended when it had nothing left to do has no pointers, and yet nobody was told of an end. */
function hasAnnouncedEnd({ pointers, told }: Instance): boolean {
  return pointers.size === 0 && told !== 'suspended';
}

/** Ends the calls in flight of a stopped instance: they ended with the node that made them. */
function endInterrupted(session: Session): void {
  if (isEnded(session.instance)) return;
  const interrupted = [...session.instance.pointers.values()].filter(
    ({ isEnding, state }) => isEnding === true && state.kind === 'effect',
  );
  for (const pointer of interrupted) cutOff(session, pointer, 'the server stopped during the call');
  if (interrupted.length > 0) continueContainers(session);
}

/** Applies a status that was changed externally. It takes precedence over the session's own status. */
export function applyStatus(session: Session, status: InstanceStatus, at: number): void {
  const { instance } = session;
  // An instance that a step error has ended stays ended: nothing is left to suspend or resume.
  if (instance.status === 'Terminated' && status !== 'Terminated') return;
  switch (status) {
    case 'Suspended':
      suspend(session);
      instance.endTime = null;
      instance.outcome = null;
      withdrawAnnouncement(instance);
      break;
    case 'Runnable':
      instance.status = 'Runnable';
      instance.stepsWithoutWait = 0;
      askForPlaces(session);
      askForSlots(session);
      completeIfDone(session);
      break;
    case 'Terminated':
      terminate(session, at, 'Terminated');
      break;
    case 'Complete':
      // Only the engine completes an instance.
      break;
  }
  session.dirty = true;
}

/** Suspends a misbehaving instance as a whole; a resume lets it continue. */
export function haltInstance(session: Session, type: string, message: string): void {
  const { instance } = session;
  const [pointerId] = session.queue;
  const pointer = pointerId === undefined ? undefined : instance.pointers.get(pointerId);
  suspend(session);
  instance.stepsWithoutWait = 0;
  instance.lastError = {
    stepId: pointer?.stepId ?? '',
    pointerId: pointer?.id ?? 0,
    type,
    message,
    traceback: null,
    data: null,
    attempt: pointer?.attempt ?? 1,
    time: session.now,
  };
  session.dirty = true;
}
