/** The second part of a clean-up: nothing is open any more, and the compensation chains run one after another. */
import { endInstance } from './end-instance.js';
import { openPointer, itemOf } from './pointers.js';
import { stepById, type Session } from './session.js';
import type { CleanUp } from '../model/instance.js';

/** Starts the next chain of the plan, or ends the instance. Call it when nothing is open. */
export function nextCleanUp(session: Session, cleanUp: CleanUp): void {
  const { instance } = session;
  const plan = cleanUp.plan ?? instance.completed.toReversed();
  if (cleanUp.plan === null) {
    instance.completed = [];
    instance.completedItemsLength = 0;
  }
  const entry = plan[cleanUp.next];
  const entryStepId = entry === undefined ? null : stepById(session, entry.stepId).compensateWith;
  if (entry === undefined || entryStepId === null) {
    instance.cleanUp = { ...cleanUp, plan };
    endInstance(session, { status: 'Terminated', outcome: 'Terminated', at: session.now });
    return;
  }
  instance.cleanUp = { ...cleanUp, plan, next: cleanUp.next + 1 };
  openPointer(session, entryStepId, { parentId: null, ...itemOf(entry) });
}

/** The number of chains of the plan that have ended. */
export function compensatedCount({ next, plan }: CleanUp, openCount: number): number {
  if (plan === null) return 0;
  return openCount > 0 && next > 0 ? Math.min(next, plan.length) - 1 : next;
}
