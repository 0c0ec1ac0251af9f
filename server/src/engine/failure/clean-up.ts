/**
 * Termination with clean-up: the completed steps of the instance are compensated, newest first, and then it is Terminated.
 *
 *   beginCleanUp --> compensations and children under way end --> the plan, one chain after another --> Terminated
 *
 * Everything else that is open is cancelled at the start. The plan contains every completed step that can be compensated
 * and every open container with CompensateWith, after the steps that ran inside it. Its chains run outside all containers,
 * so that the instance itself starts the next chain at the point where it would otherwise be Complete.
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
 * Starts the clean-up, unless it has already started or the instance has ended.
 * @param status the stored status: the request takes precedence over an end or a suspension that was reached in memory
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

/** Nothing is open: starts the next chain of the plan, or ends the instance. */
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

/** A child ended by itself before it learned of the clean-up: its work is compensated as if its step had completed. */
export function addToPlan(run: Run, pointer: Pointer): void {
  const { cleanUp } = run.instance;
  const { compensateWith } = stepOf(run, pointer);
  if (cleanUp === null || compensateWith === null) return;
  run.instance.cleanUp = { ...cleanUp, plan: [entryOf(pointer), ...cleanUp.plan] };
}

/** The number of chains of the plan that have ended. */
export function compensatedCount({ next, plan }: CleanUp, openCount: number): number {
  return openCount > 0 && next > 0 ? Math.min(next, plan.length) - 1 : next;
}

/** Reopens an instance that has ended in memory only: nobody has learned of its end. */
function reopen({ instance }: Run): void {
  instance.endTime = null;
  instance.outcome = null;
  // Kept as the lost error: no open pointer has it.
  instance.lastError = null;
  withdrawAnnouncement(instance);
}

interface Placed {
  readonly entry: CompensationEntry;
  /** The position in the history at which it completed. */
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
    // The body has completed; only the successors were not selected yet.
    else if (hasResult(pointer.state)) {
      placed.push({ ...placedIn(entryOf(pointer), path), at: Infinity });
    }
  }
  return newestFirst(placed, containers);
}

function placedIn(entry: CompensationEntry, path: readonly number[]): Placed {
  return { entry, at: entry.sequence ?? 0, inside: [...path, ...entry.within] };
}

/** An open container counts as completed just before the oldest of the steps that completed inside it. */
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
    // After all steps. A container inside another has the higher id and comes before it.
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

/** Leaves the pointers that must end by themselves, and returns all others. */
function separateKept(run: Run): readonly Pointer[] {
  const { pointers } = run.instance;
  const undoing = new Set<number>();
  const kept = new Set<number>();
  // A container has a lower id than the pointers inside it.
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

function isAwaitedChild({ joined, state }: Pointer): boolean {
  return state.kind === 'child' && state.wait && joined === undefined;
}

/** A running child also cleans up, and its end is waited for. A child that is being started does so once it exists. */
export function tellChild(run: Run, { state }: Pointer): void {
  if (state.kind !== 'child' || !state.started) return;
  const { workflowId } = state;
  run.instance.outbox.push({ kind: 'terminate-child', workflowId, compensate: true });
}

/** The pointer ends as soon as the work in progress inside it has ended; nothing else happens to it. */
function endWithInside(run: Run, pointer: Pointer): void {
  pointer.isEnding = true;
  pointer.deadline = null;
  pointer.memo = null;
  pointer.completed = [];
  run.opening.delete(pointer.id);
}
