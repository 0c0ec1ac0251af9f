/**
 * Stops a container, a step or the whole instance: nothing begins in it any more (E14).
 *
 *   stop --> what only waits is cancelled at once
 *        \-> what is in flight ends: with a result, a failure, or without a known outcome --> compensate | cancel | fail
 *
 * In flight are calls, work items that a worker holds, children, results that are not applied yet, and compensations, which
 * always run to their end. What is in flight ends at the end of the grace at the latest, with an unknown outcome.
 */
import { placeOfStep } from '../definitions/step-places.js';
import { pointersInside } from './inside.js';
import { isOver } from '../flow/pointer-states.js';
import { parentOf } from '../flow/pointers.js';
import { stepOf, type Session } from '../flow/session.js';
import type { WorkflowDefinition } from '../model/definition.js';
import type { AfterStop, Pointer } from '../model/pointer.js';
import { failedOf, isInFlight, requestedOf } from './begun.js';
import { cancelEach } from './cancel-inside.js';
import { lastPosition, noteEnded } from './completed-steps.js';

/** How long what is in flight is waited for, unless the saga's Grace or the caller says otherwise. */
export const GRACE_MS = 10 * 60_000;

/**
 * Stops a step and everything inside it. Returns true if something is in flight: `then` follows when it has ended.
 * @param failed see `stopInside`
 */
export function stopStep(
  session: Session,
  pointer: Pointer,
  failed: Pointer | null,
  then: AfterStop,
): boolean {
  const until = graceUntil(session, pointer);
  if (!stopInside(session, pointer, failed, until)) return false;
  pointer.stopping = { until, then };
  return true;
}

/**
 * Stops everything inside `scope`, and the step itself if it is at work; null: the whole instance. Returns false if nothing
 * is in flight: everything has been cancelled.
 * @param failed the pointer whose failure is the reason: `scope` or one inside it; its record has been written
 */
export function stopInside(
  session: Session,
  scope: Pointer | null,
  failed: Pointer | null,
  graceUntil: number,
): boolean {
  const inside = pointersInside(session, scope);
  const requested = requestedOf(session);
  const { compensations, kept } = inFlightOf(session, inside, { scope, failed, requested });
  // A step that failed ended before what is cancelled because of it. A container is recorded with what is inside it.
  const isLeaf = failed !== null && failed !== scope && failed.children === 0;
  if (isLeaf) noteEnded(session, failed, failedOf(failed), lastPosition(session.instance));
  for (const pointer of inside) if (kept.has(pointer.id)) markEnding(session, pointer, graceUntil);
  const others = inside.filter(({ id }) => !kept.has(id) && !compensations.has(id));
  cancelEach(session, others, { recorded: failed, undone: isLeaf ? 'others' : 'all' });
  if (scope === null) return kept.size > 0;
  session.joins.delete(scope.id);
  if (scope.children > 0) endWithInside(session, scope);
  else if (scope !== failed && isInFlight(session, scope, requested)) {
    markEnding(session, scope, graceUntil);
  }
  return scope.isEnding === true;
}

/** When the grace ends for what is in flight in a step: that of the saga around it counts. */
function graceUntil(session: Session, pointer: Pointer): number {
  for (let at: Pointer | null = pointer; at !== null; at = parentOf(session, at)) {
    const { graceMs, saga } = stepOf(session, at);
    if (saga || graceMs !== null) return session.now + (graceMs ?? GRACE_MS);
  }
  return session.now + GRACE_MS;
}

interface Stop {
  readonly scope: Pointer | null;
  readonly failed: Pointer | null;
  readonly requested: ReadonlySet<number>;
}

/** The pointers in flight with the containers around them, and everything inside the compensations among them. */
function inFlightOf(
  session: Session,
  inside: readonly Pointer[],
  { failed, requested, scope }: Stop,
): { readonly kept: ReadonlySet<number>; readonly compensations: ReadonlySet<number> } {
  const kept = new Set<number>();
  const compensations = new Set<number>();
  // A container has a lower id than the pointers inside it.
  for (const pointer of inside) {
    const parent = parentOf(session, pointer);
    const isPartOfCompensation =
      parent !== null && (parent.state.kind === 'compensating' || compensations.has(parent.id));
    if (isPartOfCompensation) {
      compensations.add(pointer.id);
      continue;
    }
    const isItself = pointer !== failed && isInFlight(session, pointer, requested);
    if (pointer.state.kind !== 'compensating' && !isItself) continue;
    for (
      let at: Pointer | null = pointer;
      at !== null && at !== scope;
      at = parentOf(session, at)
    ) {
      if (kept.has(at.id)) break;
      kept.add(at.id);
    }
  }
  return { kept, compensations };
}

/** The pointer ends as soon as it, and what is in flight inside it, has ended; nothing else happens to it. */
function markEnding(session: Session, pointer: Pointer, until: number): void {
  const wasEnding = pointer.isEnding === true;
  pointer.isEnding = true;
  // Whatever it was stopped for by itself, what is around it decides now.
  delete pointer.stopping;
  if (pointer.state.kind === 'open') endWithInside(session, pointer);
  else if (!wasEnding) notifyChild(session, pointer, until);
  session.dirty = true;
}

function endWithInside(session: Session, pointer: Pointer): void {
  pointer.isEnding = true;
  pointer.deadline = null;
  pointer.memo = null;
  session.opening.delete(pointer.id);
  session.dirty = true;
}

/** A running child also cleans up, and its end is waited for. A child that is being started does so once it exists. */
export function notifyChild(session: Session, { joined, state }: Pointer, until: number): void {
  if (state.kind !== 'child' || !state.started || joined !== undefined) return;
  const { workflowId } = state;
  session.instance.outbox.push({
    kind: 'terminate-child',
    workflowId,
    compensate: true,
    graceUntil: until,
  });
}

const cache = new WeakMap<WorkflowDefinition, ReadonlySet<string>>();

/** Whether a step, or one inside it, can be compensated. Only then is it known how to undo what is in flight. */
export function hasCompensations(session: Session, pointer: Pointer): boolean {
  let known = cache.get(session.definition);
  if (known === undefined) {
    known = compensatedPlaces(session.definition);
    cache.set(session.definition, known);
  }
  return known.has(pointer.stepId) && !isOver(pointer.state);
}

function compensatedPlaces(definition: WorkflowDefinition): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { compensateWith, id, saga } of definition.steps.values()) {
    if (compensateWith === null && !saga) continue;
    let at: string | null = id;
    while (at !== null && !found.has(at)) {
      found.add(at);
      at = placeOfStep(definition, at).container;
    }
  }
  return found;
}
