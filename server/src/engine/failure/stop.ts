/**
 * Stops a container, a step or the whole instance: nothing new begins in it (E14).
 *
 *   stop --> what only waits is canceled at once
 *        \-> what is in flight ends: with a result, a failure, or without a known outcome --> compensate | cancel | fail
 *
 * In flight are calls, work items that a worker holds, children, results that haven't been applied, and compensations, which
 * always run to completion. Any other work in flight ends no later than the grace, with an unknown outcome.
 */
import { placeOfStep } from '../definitions/step-places.js';
import { pointersInside } from './inside.js';
import { isOver } from '../session/pointer-states.js';
import { parentOf } from '../session/pointers.js';
import { stepOf, type Session } from '../session/session.js';
import type { WorkflowDefinition } from '../model/definition.js';
import type { AfterStop, Pointer } from '../model/pointer.js';
import { failedOf, isInFlight, requestedOf } from './begun.js';
import { cancelEach } from './cancel-inside.js';
import { lastPosition, noteEnded } from './completed-steps.js';

/** How long a stop waits for work in flight, unless the saga's Grace or the caller sets another duration. */
export const GRACE_MS = 10 * 60_000;

/**
 * Stops a step and everything inside it. Returns true if work is in flight: `then` follows once it has ended.
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
 * Stops everything inside `scope`, and the step itself if it is working; null: the whole instance. Returns false if nothing is
 * in flight and everything has been canceled.
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
  // A failed step ended before the steps that its failure cancels. A container is recorded together with its contents.
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

/** When the grace for work in flight in a step ends: the enclosing saga sets it. */
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

/** The pointers in flight, their enclosing containers, and everything inside compensations. */
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

/** Marks a pointer to end as soon as it and its work in flight have ended, without successors. */
function markEnding(session: Session, pointer: Pointer, until: number): void {
  const wasEnding = pointer.isEnding === true;
  pointer.isEnding = true;
  // The reason for its surroundings' stop replaces its own.
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

/**
 * Asks a running child to clean up as well, and waits for its end. A child that is still being started is asked once it exists.
 */
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

/**
 * True if a step, or one inside it, can be compensated. Without a compensation, there is no reason to wait for work in flight.
 */
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
