/** Opens and removes pointers: keeps track of containers, and of the errors of removed pointers. */
import type { Instance } from '../model/instance.js';
import { invariant } from '../model/invariant.js';
import type { Pointer } from '../model/pointer.js';
import type { StepError } from '../model/step-record.js';
import { jsonLength } from '../values/json-length.js';
import type { Json } from '../values/json.js';
import { hasWaitingItems, stepById, type Session } from './session.js';

/** Approximate size of a pointer in the stored state, in bytes. */
const POINTER_LENGTH = 400;

export function parentOf(session: Session, pointer: Pointer): Pointer | null {
  if (pointer.parentId === null) return null;
  const parent = session.instance.pointers.get(pointer.parentId);
  invariant(parent !== undefined, 'E1: the parent of an open pointer is open');
  invariant(parent.id < pointer.id, 'E4: a pointer was opened after its parent');
  return parent;
}

/** The position of a new pointer: its container, and the Foreach item that it sees. */
export interface Surroundings {
  readonly parentId: number | null;
  readonly item?: Json;
  readonly index?: number;
}

/** The surroundings that a pointer's successors share with it. */
export function surroundingsOf(pointer: Pointer): Surroundings {
  return { parentId: pointer.parentId, ...itemOf(pointer) };
}

/** The surroundings of a step inside a container. */
export function insideOf(container: Pointer): Surroundings {
  return { ...surroundingsOf(container), parentId: container.id };
}

export function itemOf(pointer: { readonly item?: Json; readonly index?: number }): {
  item?: Json;
  index?: number;
} {
  return {
    ...(pointer.item === undefined ? {} : { item: pointer.item }),
    ...(pointer.index === undefined ? {} : { index: pointer.index }),
  };
}

export function openPointer(session: Session, stepId: string, surroundings: Surroundings): Pointer {
  const { instance } = session;
  const step = stepById(session, stepId);
  const pointer: Pointer = {
    id: instance.nextPointerId,
    stepId,
    ...surroundings,
    openedAt: session.now,
    state: { kind: 'ready' },
    attempt: 1,
    retries: 0,
    attemptStartedAt: session.now,
    deadline: step.timeoutMs === null ? null : session.now + step.timeoutMs,
    children: 0,
    memo: null,
    inBackground: false,
    completed: [],
    inputs: null,
    error: null,
  };
  instance.nextPointerId += 1;
  instance.pointers.set(pointer.id, pointer);
  session.grown +=
    POINTER_LENGTH + (surroundings.item === undefined ? 0 : jsonLength(surroundings.item));
  const parent = parentOf(session, pointer);
  if (parent !== null) {
    parent.children += 1;
    session.openItems.add(parent, pointer);
  }
  session.queue.add(pointer.id);
  if (step.cancelCondition !== null) {
    session.cancelable.add(pointer.id);
    session.cancelCheckDue = true;
  }
  session.dirty = true;
  return pointer;
}

/**
 * Removes a pointer from the instance; the caller updates the container around it. Unresolved errors are kept with the
 * container, or with the instance.
 */
export function removePointer(session: Session, pointer: Pointer, hasSucceeded: boolean): void {
  const { instance } = session;
  instance.pointers.delete(pointer.id);
  session.queue.delete(pointer.id);
  session.joins.delete(pointer.id);
  session.opening.delete(pointer.id);
  session.openItems.forget(pointer);
  session.cancelable.delete(pointer.id);
  const parent = parentOf(session, pointer);
  if (parent !== null) {
    parent.children -= 1;
    const hasItemEnded = session.openItems.remove(parent, pointer);
    if (hasItemEnded && hasWaitingItems(parent)) session.opening.add(parent.id);
  }
  const lost = newerOf(hasSucceeded ? null : errorOf(pointer), pointer.lostError ?? null);
  const keeper = parent ?? instance;
  if (lost !== null) keeper.lostError = newerOf(keeper.lostError ?? null, lost);
  if (pointer.isCompensated === true) keeper.isCompensated = true;
  if (instance.lastError?.pointerId === pointer.id) instance.lastError = newestError(instance);
  session.dirty = true;
}

/** The most recent error of the open pointers. */
function newestError({ pointers }: Instance): StepError | null {
  let newest: StepError | null = null;
  for (const pointer of pointers.values()) newest = newerOf(newest, errorOf(pointer));
  return newest;
}

/** A container that is compensating has the error of the step that failed inside it. */
function errorOf({ error, id }: Pointer): StepError | null {
  return error === null ? null : { ...error, pointerId: id };
}

/** Returns the newer error, or the second one if both have the same time. */
export function newerOf(first: StepError | null, second: StepError | null): StepError | null {
  if (first === null || second === null) return first ?? second;
  return second.time < first.time ? first : second;
}
