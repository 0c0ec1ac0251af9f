/** Moves an instance to another version of its definition, after the check that everything open exists there. */
import type { WorkflowDefinition } from '../model/definition.js';
import type { CompensationEntry, PointerState } from '../model/pointer.js';
import { hasWaitingItems, stepOf, type Session } from '../session/session.js';

/** The id of a step in the other version. */
export function targetStepId(stepMap: Readonly<Record<string, string>>, stepId: string): string {
  return Object.hasOwn(stepMap, stepId) ? (stepMap[stepId] ?? stepId) : stepId;
}

/** @returns the number of completed steps that the other version can no longer compensate */
export function moveToVersion(
  session: Session,
  target: WorkflowDefinition,
  stepMap: Readonly<Record<string, string>>,
): number {
  const { instance } = session;
  let lost = 0;
  const moved = (entries: readonly CompensationEntry[]): CompensationEntry[] => {
    const kept = entries
      .map((entry) => ({ ...entry, stepId: targetStepId(stepMap, entry.stepId) }))
      .filter(({ stepId }) => (target.steps.get(stepId)?.compensateWith ?? null) !== null);
    lost += entries.length - kept.length;
    return kept;
  };
  session.definition = target;
  instance.version = target.version;
  instance.completed = moved(instance.completed);
  if (instance.cleanUp !== null) {
    const { next, plan } = instance.cleanUp;
    const left = plan === null ? {} : movedPlan(plan, next, moved);
    instance.cleanUp = { ...instance.cleanUp, ...left };
  }
  for (const pointer of instance.pointers.values()) {
    pointer.stepId = targetStepId(stepMap, pointer.stepId);
    pointer.completed = moved(pointer.completed);
    pointer.state = movedState(pointer.state, moved);
  }
  watchConditions(session);
  return lost;
}

type Move = (entries: readonly CompensationEntry[]) => CompensationEntry[];

function movedState(state: PointerState, moved: Move): PointerState {
  if (state.kind !== 'compensating') return state;
  return { ...state, ...movedPlan(state.plan, state.next, moved) };
}

function movedPlan(
  plan: readonly CompensationEntry[],
  next: number,
  moved: Move,
): { readonly plan: readonly CompensationEntry[]; readonly next: number } {
  const begun = moved(plan.slice(0, next));
  return { plan: [...begun, ...moved(plan.slice(next))], next: begun.length };
}

/** The steps of the other version may have other cancel conditions. */
function watchConditions(session: Session): void {
  session.cancelable.clear();
  session.opening.clear();
  for (const pointer of session.instance.pointers.values()) {
    if (hasWaitingItems(pointer)) session.opening.add(pointer.id);
    if (stepOf(session, pointer).cancelCondition !== null) session.cancelable.add(pointer.id);
  }
  session.cancelCheckDue = true;
}
