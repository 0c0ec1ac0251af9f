/**
 * Termination with clean-up: what the instance has done is compensated, newest first, then it is Terminated.
 *
 *   beginCleanUp --> compensations and children under way end --> the plan, one chain after another --> Terminated
 *
 * Everything else that is open is cancelled when it begins. The plan has every completed step that can be compensated and
 * every open container with CompensateWith, after what ran inside of it. Its chains run outside of all containers, so that
 * the instance itself goes on to the next chain where it would otherwise be Complete.
 */
import { cancelEach } from './cancel-inside.js';
import { entryOf, withAncestors } from './completed-steps.js';
import { endInstance, withdrawAnnouncement } from '../flow/end-instance.js';
import { isEnded, type CleanUp, type InstanceStatus } from '../model/instance.js';
import type { CompensationEntry, Pointer, PointerState } from '../model/pointer.js';
import { isOver } from '../flow/pointer-states.js';
import { itemOf, openPointer, parentOf } from '../flow/pointers.js';
import { stepById, stepOf, type Run } from '../flow/run.js';

/**
 * Begins the clean-up, unless it has begun before or the instance has ended.
 * @param status what the store has: an end or a suspension that was reached meanwhile gives way to the request
 */
export function beginCleanUp(run: Run, status: InstanceStatus): void {
  const { instance } = run;
  if (instance.cleanUp !== null || status === 'Complete' || status === 'Terminated') return;
  if (isEnded(instance)) reopen(run);
  instance.status = status;
  instance.stepsWithoutWait = 0;
  const plan = planOf(run);
  const { forgotten } = instance;
  cancelEach(run, separateKept(run));
  instance.cleanUp = { plan, next: 0, forgotten };
  instance.completed = [];
  instance.completedItemsLength = 0;
  run.dirty = true;
}

/** Nothing is open: the next chain of the plan starts, or the instance ends. */
export function nextCleanUp(run: Run, cleanUp: CleanUp): void {
  const entry = cleanUp.plan[cleanUp.next];
  const entryStepId = entry === undefined ? null : stepById(run, entry.stepId).compensateWith;
  if (entry === undefined || entryStepId === null) {
    endInstance(run, { status: 'Terminated', outcome: 'Terminated', at: run.now });
    return;
  }
  run.instance.cleanUp = { ...cleanUp, next: cleanUp.next + 1 };
  openPointer(run, entryStepId, { parentId: null, ...itemOf(entry) });
}

/** A child ended by itself before it heard of the clean-up: what it did is compensated as if its step had completed. */
export function addToPlan(run: Run, pointer: Pointer): void {
  const { cleanUp } = run.instance;
  const { compensateWith } = stepOf(run, pointer);
  if (cleanUp === null || compensateWith === null) return;
  run.instance.cleanUp = { ...cleanUp, plan: [entryOf(pointer), ...cleanUp.plan] };
}

/** How many chains of the plan have ended. */
export function compensatedCount({ next, plan }: CleanUp, openCount: number): number {
  return openCount > 0 && next > 0 ? Math.min(next, plan.length) - 1 : next;
}

/** The instance ended in memory only: nobody has heard of it. */
function reopen({ instance }: Run): void {
  instance.endTime = null;
  instance.outcome = null;
  // Kept as the lost error: nothing that is open has to do with it.
  instance.lastError = null;
  withdrawAnnouncement(instance);
}

interface Placed {
  readonly entry: CompensationEntry;
  /** When it completed, as a place in the history. */
  readonly at: number;
  /** Every open container that it ran in. */
  readonly inside: readonly number[];
}

function planOf(run: Run): readonly CompensationEntry[] {
  const placed = run.instance.completed.map((entry) => placedIn(entry, []));
  const containers: Pointer[] = [];
  for (const pointer of run.instance.pointers.values()) {
    const around = [...withAncestors(run, pointer)];
    if (isUndoing(pointer) || around.at(-1)?.parentId !== null) continue;
    const path = around.map(({ id }) => id);
    placed.push(...pointer.completed.map((entry) => placedIn(entry, path)));
    if (stepOf(run, pointer).compensateWith === null) continue;
    if (pointer.state.kind === 'open') containers.push(pointer);
    // It has done what it does; only what follows was not chosen yet.
    else if (hasResult(pointer.state)) {
      placed.push({ ...placedIn(entryOf(pointer), path), at: Infinity });
    }
  }
  return newestFirst(placed, containers);
}

function placedIn(entry: CompensationEntry, path: readonly number[]): Placed {
  return { entry, at: entry.sequence ?? 0, inside: [...path, ...entry.within] };
}

/** An open container counts as completed just before the oldest of the steps that completed inside of it. */
function newestFirst(
  placed: readonly Placed[],
  containers: readonly Pointer[],
): readonly CompensationEntry[] {
  const oldestInside = new Map<number, number>();
  for (const { at, inside } of placed) {
    for (const id of inside) oldestInside.set(id, Math.min(at, oldestInside.get(id) ?? Infinity));
  }
  const steps = placed.map(({ at, entry }, index) => ({ entry, at, rank: index }));
  const open = containers.map((container) => ({
    entry: entryOf(container),
    at: oldestInside.get(container.id) ?? Infinity,
    // Behind all steps, and one inside another, which has the higher id, before that other.
    rank: -1 / container.id,
  }));
  return [...steps, ...open]
    .sort((a, b) => (a.at === b.at ? b.rank - a.rank : b.at - a.at))
    .map(({ entry }) => entry);
}

function isUndoing({ state }: Pointer): boolean {
  return state.kind === 'compensating';
}

function hasResult(state: PointerState): boolean {
  if (state.kind === 'sleeping') return state.kept !== undefined;
  return state.kind === 'finishing' && !isOver(state);
}

/** Leaves what is to end by itself, and answers everything else. */
function separateKept(run: Run): readonly Pointer[] {
  const { pointers } = run.instance;
  const undoing = new Set<number>();
  const kept = new Set<number>();
  // A container has a lower id than what is inside of it.
  for (const pointer of pointers.values()) {
    const parent = parentOf(run, pointer);
    if (parent !== null && (isUndoing(parent) || undoing.has(parent.id))) {
      undoing.add(pointer.id);
      continue;
    }
    if (!isUndoing(pointer) && !isAwaitedChild(pointer)) continue;
    tellChild(run, pointer);
    for (let at: Pointer | null = pointer; at !== null; at = parentOf(run, at)) {
      if (kept.has(at.id)) break;
      kept.add(at.id);
      endWithInside(run, at);
    }
  }
  return [...pointers.values()].filter(({ id }) => !kept.has(id) && !undoing.has(id));
}

function isAwaitedChild({ state }: Pointer): boolean {
  return state.kind === 'child' && state.wait;
}

/** A child that runs cleans up as well, and its end is waited for; one that is being started does when it is there. */
export function tellChild(run: Run, { state }: Pointer): void {
  if (state.kind !== 'child' || !state.started) return;
  const { workflowId } = state;
  run.instance.outbox.push({ kind: 'terminate-child', workflowId, compensate: true });
}

/** The pointer ends as soon as what is under way in it has ended; nothing else happens to it any more. */
function endWithInside(run: Run, pointer: Pointer): void {
  pointer.isEnding = true;
  pointer.deadline = null;
  pointer.memo = null;
  pointer.completed = [];
  run.opening.delete(pointer.id);
}
