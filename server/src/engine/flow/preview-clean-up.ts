/**
 * Previews the steps that a termination with compensation would undo. Works on a copy of the instance, which must be discarded
 * afterwards.
 */
import { completeIfDone, dropPointer } from '../session/end-path.js';
import type { Session } from '../session/session.js';
import { continueContainers } from '../primitives/continue-containers.js';
import type { Pointer } from '../model/pointer.js';
import { beginCleanUp } from '../failure/clean-up.js';
import { noteCompleted } from '../failure/completed-steps.js';
import { endGrace, isAwaited } from '../failure/in-flight.js';
import { applyWithdrawn, stepsToAskAbout, type WithdrawnItem } from './withdrawn-items.js';

export interface UndoPreview {
  /** The executions to undo, in order. */
  readonly undo: readonly UndoneExecution[];
  readonly inFlight: readonly UndoneExecution[];
}

export interface UndoneExecution {
  /** Null: it ended before the server recorded the execution that each compensation undoes. */
  readonly executionId: number | null;
  readonly stepId: string;
}

/** @param itemOf returns the state of a step's work item in the store */
export function previewCleanUp(
  session: Session,
  itemOf: (pointer: Pointer) => WithdrawnItem,
): UndoPreview {
  const { instance } = session;
  beginCleanUp(session, 'Runnable', session.now);
  for (const pointer of stepsToAskAbout(session)) applyWithdrawn(session, pointer, itemOf(pointer));
  const inFlight = [...instance.pointers.values()].filter(
    (pointer) => isAwaited(pointer) || hasResult(pointer),
  );
  const shown = inFlight.map(({ id, stepId }) => ({ executionId: id, stepId }));
  for (const pointer of inFlight.filter(hasResult)) {
    noteCompleted(session, pointer);
    dropPointer(session, pointer);
  }
  endGrace(session, null);
  continueContainers(session);
  completeIfDone(session);
  const { cleanUp } = instance;
  const plan = cleanUp?.plan?.slice(cleanUp.next === 0 ? 0 : cleanUp.next - 1);
  const undo = (plan ?? instance.completed.toReversed()).map(({ executionId, stepId }) => ({
    executionId: executionId ?? null,
    stepId,
  }));
  return { undo, inFlight: shown };
}

/** True if the step has its result, and only its outputs remain to be applied. */
function hasResult({ isEnding, state }: Pointer): boolean {
  return isEnding === true && state.kind === 'finishing';
}
