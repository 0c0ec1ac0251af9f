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
import { stepOf, type Run } from '../flow/run.js';
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
  run: Run,
  pointer: Pointer,
  failed: Pointer | null,
  then: AfterStop,
): boolean {
  const until = graceUntil(run, pointer);
  if (!stopInside(run, pointer, failed, until)) return false;
  pointer.stopping = { until, then };
  return true;
}

/**
 * Stops everything inside `scope`, and the step itself if it is at work; null: the whole instance. Returns false if nothing
 * is in flight: everything has been cancelled.
 * @param failed the pointer whose failure is the reason: `scope` or one inside it; its record has been written
 */
export function stopInside(
  run: Run,
  scope: Pointer | null,
  failed: Pointer | null,
  graceUntil: number,
): boolean {
  const inside = pointersInside(run, scope);
  const requested = requestedOf(run);
  const { compensations, kept } = inFlightOf(run, inside, { scope, failed, requested });
  // A step that failed ended before what is cancelled because of it. A container is recorded with what is inside it.
  const isLeaf = failed !== null && failed !== scope && failed.children === 0;
  if (isLeaf) noteEnded(run, failed, failedOf(failed), lastPosition(run.instance));
  for (const pointer of inside) if (kept.has(pointer.id)) markEnding(run, pointer, graceUntil);
  const others = inside.filter(({ id }) => !kept.has(id) && !compensations.has(id));
  cancelEach(run, others, { recorded: failed, undone: isLeaf ? 'others' : 'all' });
  if (scope === null) return kept.size > 0;
  run.joins.delete(scope.id);
  if (scope.children > 0) endWithInside(run, scope);
  else if (scope !== failed && isInFlight(run, scope, requested)) {
    markEnding(run, scope, graceUntil);
  }
  return scope.isEnding === true;
}

/** When the grace ends for what is in flight in a step: that of the saga around it counts. */
function graceUntil(run: Run, pointer: Pointer): number {
  for (let at: Pointer | null = pointer; at !== null; at = parentOf(run, at)) {
    const { graceMs, saga } = stepOf(run, at);
    if (saga || graceMs !== null) return run.now + (graceMs ?? GRACE_MS);
  }
  return run.now + GRACE_MS;
}

interface Stop {
  readonly scope: Pointer | null;
  readonly failed: Pointer | null;
  readonly requested: ReadonlySet<number>;
}

/** The pointers in flight with the containers around them, and everything inside the compensations among them. */
function inFlightOf(
  run: Run,
  inside: readonly Pointer[],
  { failed, requested, scope }: Stop,
): { readonly kept: ReadonlySet<number>; readonly compensations: ReadonlySet<number> } {
  const kept = new Set<number>();
  const compensations = new Set<number>();
  // A container has a lower id than the pointers inside it.
  for (const pointer of inside) {
    const parent = parentOf(run, pointer);
    const isPartOfCompensation =
      parent !== null && (parent.state.kind === 'compensating' || compensations.has(parent.id));
    if (isPartOfCompensation) {
      compensations.add(pointer.id);
      continue;
    }
    const isItself = pointer !== failed && isInFlight(run, pointer, requested);
    if (pointer.state.kind !== 'compensating' && !isItself) continue;
    for (let at: Pointer | null = pointer; at !== null && at !== scope; at = parentOf(run, at)) {
      if (kept.has(at.id)) break;
      kept.add(at.id);
    }
  }
  return { kept, compensations };
}

/** The pointer ends as soon as it, and what is in flight inside it, has ended; nothing else happens to it. */
function markEnding(run: Run, pointer: Pointer, until: number): void {
  const wasEnding = pointer.isEnding === true;
  pointer.isEnding = true;
  // Whatever it was stopped for by itself, what is around it decides now.
  delete pointer.stopping;
  if (pointer.state.kind === 'open') endWithInside(run, pointer);
  else if (!wasEnding) tellChild(run, pointer, until);
  run.dirty = true;
}

function endWithInside(run: Run, pointer: Pointer): void {
  pointer.isEnding = true;
  pointer.deadline = null;
  pointer.memo = null;
  run.opening.delete(pointer.id);
  run.dirty = true;
}

/** A running child also cleans up, and its end is waited for. A child that is being started does so once it exists. */
export function tellChild(run: Run, { joined, state }: Pointer, until: number): void {
  if (state.kind !== 'child' || !state.started || joined !== undefined) return;
  const { workflowId } = state;
  run.instance.outbox.push({
    kind: 'terminate-child',
    workflowId,
    compensate: true,
    graceUntil: until,
  });
}

const cache = new WeakMap<WorkflowDefinition, ReadonlySet<string>>();

/** Whether a step, or one inside it, can be compensated. Only then is it known how to undo what is in flight. */
export function hasCompensations(run: Run, pointer: Pointer): boolean {
  let known = cache.get(run.definition);
  if (known === undefined) {
    known = compensatedPlaces(run.definition);
    cache.set(run.definition, known);
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
