/**
 * Executions that don't get their slots when they begin, and get them later.
 *
 *   begins --> the commit gets the slots: effect, child
 *         \-> the commit is refused: limited --> granted: effect, child
 *                                           \-> canceled, timed out, failed: as in any other wait
 *
 * What is suspended holds no slots for work that hasn't begun (`suspend`): it waits for them again once it is resumed.
 */
import { failStep } from '../failure/fail-step.js';
import { continueContainers } from '../primitives/continue-containers.js';
import type { Pointer } from '../model/pointer.js';
import type { LimitKey } from '../model/slots.js';
import { setState } from '../session/pointer-states.js';
import {
  askForKeys,
  requestAgain,
  requestedWith,
  takeBack,
  takeBackAsked,
  waitForSlots,
} from '../session/slot-waits.js';
import { removeWhere } from '../session/slots.js';
import type { Session } from '../session/session.js';

/** The store has given an execution the slots that it waits for. */
export interface SlotsMessage {
  readonly kind: 'slots';
  /** See `SlotRequest`. */
  readonly execution: string;
  /** The limit that doesn't exist: the execution never gets its slots. */
  readonly unknown?: string;
}

/** An execution that can't have its slots. */
export interface RefusedExecution {
  readonly execution: string;
  readonly on: LimitKey;
  /** There is no limit with this name. */
  readonly isUnknown?: true;
}

/**
 * Called when the commit was refused because these executions can't have their slots. The next commit has them wait.
 * @returns the executions that the next commit must not take slots for
 */
export function refuseSlots(
  session: Session,
  refused: readonly RefusedExecution[],
): readonly string[] {
  const { changes } = session;
  const keys: LimitKey[] = [];
  for (const { execution, isUnknown, on } of refused) {
    removeWhere(changes.takenSlots, (request) => request.execution === execution);
    const pointer = withSlots(session, execution);
    if (pointer === null) continue;
    const requested = requestedWith(session, pointer);
    const mayFail = requested !== null || pointer.state.kind === 'activity';
    if (isUnknown === true && mayFail) {
      // No commit contains them.
      delete pointer.slots;
      failUnknown(session, pointer, on.limit);
    } else if (requested !== null) {
      waitForSlots(session, requested, on);
      keys.push(on);
    }
  }
  // A slot may have become free since.
  askForKeys(session, keys);
  continueContainers(session);
  return refused.map(({ execution }) => execution);
}

/**
 * Does nothing if no step waits for it: what ended the wait has freed the slots. An item of an activity gets its slots when it is
 * claimed, so it is only told that there is no such limit.
 */
export function applySlots(session: Session, { execution, unknown }: SlotsMessage): void {
  const pointer = withSlots(session, execution);
  const isItem = pointer?.state.kind === 'activity';
  if (pointer !== null && unknown !== undefined && (isItem || pointer.state.kind === 'limited')) {
    failUnknown(session, pointer, unknown);
    return;
  }
  if (pointer?.state.kind !== 'limited' || pointer.slots === undefined) return;
  const { next, on, since } = pointer.state;
  const { changes, instance } = session;
  if (instance.status === 'Runnable') {
    setState(session, pointer, next);
    changes.effects.push(pointer.id);
    changes.begunSlots.push(execution);
    changes.endedSlotWaits.push({ limit: on.limit, waitedMs: session.now - since });
    takeBackAsked(session, on);
  } else {
    // It was suspended in the meantime.
    const slots = requestAgain(session, pointer, pointer.slots);
    changes.waitingSlots.push({ ...slots, since, on });
    session.dirty = true;
  }
}

function failUnknown(session: Session, pointer: Pointer, limit: string): void {
  takeBack(session, pointer);
  failStep(session, pointer, {
    type: 'UnknownLimit',
    message: `there is no limit with the name '${limit}'`,
    retryable: false,
  });
}

/** The pointer that takes, waits for or holds the slots of this execution; null if there is none. */
function withSlots({ instance }: Session, execution: string): Pointer | null {
  const pointer = instance.pointers.get(Number(execution.split('/')[1]));
  return pointer?.slots?.execution === execution ? pointer : null;
}
