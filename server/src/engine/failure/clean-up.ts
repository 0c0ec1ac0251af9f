/**
 * Termination with clean-up: compensates the begun steps of the instance, newest first, and then ends it as Terminated.
 *
 *   beginCleanUp --> what is in flight ends (`stop.ts`) --> the plan, one chain after another --> Terminated
 *
 * The chains run outside all containers, so that the instance itself starts the next chain at the point where it would
 * otherwise be Complete (`clean-up-plan.ts`).
 */
import { stopInside } from './stop.js';
import { withdrawAnnouncement } from '../session/end-instance.js';
import { isEnded, type InstanceStatus } from '../model/instance.js';
import type { Session } from '../session/session.js';
import { askForSlots } from '../session/slot-waits.js';

/**
 * Starts the clean-up, unless it has already started or the instance has ended.
 * @param status the stored status: the request takes precedence over an end or a suspension that was reached in memory
 * @param graceUntil when work in flight is given up
 */
export function beginCleanUp(session: Session, status: InstanceStatus, graceUntil: number): void {
  const { instance } = session;
  if (instance.cleanUp !== null || status === 'Complete' || status === 'Terminated') return;
  if (isEnded(instance)) reopen(session);
  instance.status = status;
  instance.stepsWithoutWait = 0;
  const { forgotten } = instance;
  instance.cleanUp = { plan: null, until: graceUntil, next: 0, forgotten };
  stopInside(session, null, null, graceUntil);
  // Steps of compensations go on.
  if (status === 'Runnable') askForSlots(session);
  session.dirty = true;
}

/** Reopens an instance that has ended in memory only: its end has not been announced. */
function reopen({ instance }: Session): void {
  instance.endTime = null;
  instance.outcome = null;
  // Moved to the lost error, because no open pointer has it.
  instance.lastError = null;
  withdrawAnnouncement(instance);
}
