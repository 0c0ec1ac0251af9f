/** Evaluates the cancel conditions that a pass has to look at, and cancels the steps whose condition is true. */
import {
  cancelStep,
  recheckCancelConditions,
  takeCancelChecks,
} from '../../engine/failure/cancel.js';
import type { Run } from '../../engine/flow/run.js';
import { deadlineAround } from '../../engine/flow/timers.js';
import { isRefusal } from '../../scripts/script-runtime.js';
import type { ActorEnvironment } from '../instances/actor-environment.js';
import type { PendingEvaluation } from './pending-evaluation.js';

/** How long conditions wait for a Python that was overloaded or could not be started. */
const RECHECK_MS = 1000;

/**
 * A condition that fails counts as false; the log says so. One that Python had no time for is checked again later, and
 * all of them are when the evaluation was called off.
 */
export async function checkCancelConditions(
  run: Run,
  { clock, evaluator, logger }: Pick<ActorEnvironment, 'clock' | 'evaluator' | 'logger'>,
  pending: PendingEvaluation,
): Promise<void> {
  for (const { pointer, condition } of takeCancelChecks(run)) {
    const place = { instance: run.instance, pointer, pending };
    const asked = evaluator.condition(place, condition);
    const evaluated = await (asked instanceof Promise
      ? pending.wait(asked, deadlineAround(run, pointer))
      : asked);
    if (pending.wasCalledOff(evaluated)) {
      run.cancelCheckDue = true;
      return;
    }
    if (!evaluated.ok) {
      if (isRefusal(evaluated.failure)) recheckCancelConditions(run, clock.now() + RECHECK_MS);
      logger.warn(
        { workflowId: run.instance.id, stepId: pointer.stepId, error: evaluated.failure },
        'a CancelCondition failed; treating it as false',
      );
    } else if (evaluated.value) {
      run.now = clock.now();
      cancelStep(run, pointer);
    }
  }
}
