/** Evaluates the cancel conditions that a pass has to look at, and cancels the steps whose condition is true. */
import { cancelStep, takeCancelChecks } from '../engine/cancel.js';
import type { Run } from '../engine/run.js';
import type { ActorEnvironment } from './actor-environment.js';

/** A condition that fails counts as false; the log says so. */
export async function checkCancelConditions(
  run: Run,
  { clock, evaluator, logger }: Pick<ActorEnvironment, 'clock' | 'evaluator' | 'logger'>,
): Promise<void> {
  for (const { pointer, condition } of takeCancelChecks(run)) {
    const evaluated = await evaluator.condition(run.instance, pointer, condition);
    if (!evaluated.ok) {
      logger.warn(
        { workflowId: run.instance.id, stepId: pointer.stepId, error: evaluated.failure },
        'a cancel condition failed and counts as false',
      );
    } else if (evaluated.value) {
      run.now = clock.now();
      cancelStep(run, pointer);
    }
  }
}
