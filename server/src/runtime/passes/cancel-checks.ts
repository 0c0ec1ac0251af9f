/** Evaluates the cancel conditions that a pass must check, and cancels the steps whose condition is true. */
import {
  cancelStep,
  recheckCancelConditions,
  takeCancelChecks,
} from '../../engine/flow/cancel-conditions.js';
import type { Session } from '../../engine/session/session.js';
import { deadlineAround } from '../../engine/flow/timers.js';
import { isRefusal } from '../../scripts/script-runtime.js';
import type { PassEnvironment } from './pass-environment.js';
import type { PendingEvaluation } from './pending-evaluation.js';

/** When to check conditions again if Python was overloaded or could not be started. */
const RECHECK_MS = 1000;

/**
 * A condition that fails counts as false, and is logged. If Python was overloaded, a condition is checked again later; after a
 * canceled evaluation, all conditions are.
 */
export async function checkCancelConditions(
  session: Session,
  { clock, evaluator, logger }: Pick<PassEnvironment, 'clock' | 'evaluator' | 'logger'>,
  pending: PendingEvaluation,
): Promise<void> {
  for (const { pointer, condition } of takeCancelChecks(session)) {
    const place = { instance: session.instance, pointer, pending };
    const asked = evaluator.condition(place, condition);
    const evaluated = await (asked instanceof Promise
      ? pending.wait(asked, deadlineAround(session, pointer))
      : asked);
    if (pending.wasCalledOff(evaluated)) {
      session.cancelCheckDue = true;
      return;
    }
    if (!evaluated.ok) {
      if (isRefusal(evaluated.failure)) recheckCancelConditions(session, clock.now() + RECHECK_MS);
      logger.warn(
        { workflowId: session.instance.id, stepId: pointer.stepId, error: evaluated.failure },
        'a CancelCondition failed; treating it as false',
      );
    } else if (evaluated.value) {
      session.now = clock.now();
      cancelStep(session, pointer);
    }
  }
}
