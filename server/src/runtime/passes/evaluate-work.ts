/**
 * Does one piece of the engine's work: evaluates its expressions, and returns the values or the failure to the engine. If the
 * evaluation was canceled, the work returns to the engine unchanged.
 */
import { stepOf, type Session } from '../../engine/session/session.js';
import {
  enterStep,
  failWork,
  leaveCompensated,
  leaveStep,
  returnWork,
  type StepWork,
} from '../../engine/flow/step-work.js';
import { deadlineAround } from '../../engine/flow/timers.js';
import { traitsOf } from '../../engine/definitions/step-types.js';
import { conceal } from '../secrets/secret-marks.js';
import type { PassEnvironment } from './pass-environment.js';
import type { Evaluated, MaybePromise } from './evaluator.js';
import type { PendingEvaluation } from './pending-evaluation.js';
import { shownInputs } from './shown-value.js';

type StepEnvironment = Pick<PassEnvironment, 'clock' | 'evaluator'>;

export async function evaluateWork(
  { clock, evaluator }: StepEnvironment,
  session: Session,
  { pending, work }: { readonly pending: PendingEvaluation; readonly work: StepWork },
): Promise<void> {
  const { pointer } = work;
  const place = { instance: session.instance, pointer, pending };
  const settled = <Value>(evaluated: MaybePromise<Value>): MaybePromise<Value> =>
    evaluated instanceof Promise
      ? pending.wait(evaluated, deadlineAround(session, pointer))
      : evaluated;
  if (work.kind === 'inputs') {
    const { takesSecrets } = traitsOf(stepOf(session, pointer));
    const evaluated = settled(evaluator.inputs({ ...place, takesSecrets }, work.inputs));
    const inputs = evaluated instanceof Promise ? await evaluated : evaluated;
    session.now = clock.now();
    if (pending.wasCalledOff(inputs)) returnWork(session, work);
    else if (inputs.ok)
      enterStep(
        session,
        pointer,
        inputs.value,
        shownInputs(stepOf(session, pointer), takesSecrets ? conceal(inputs.value) : inputs.value),
      );
    else failWork(session, work, inputs.failure);
    return;
  }
  if (work.kind === 'selectors') {
    const evaluate = (condition: Condition): MaybePromise<Evaluated<boolean>> =>
      settled(evaluator.condition(place, condition));
    const selected = await selectedOf(work, evaluate, pending);
    session.now = clock.now();
    if (selected === null) returnWork(session, work);
    else leaveCompensated(session, pointer, selected);
    return;
  }
  const evaluated = settled(evaluator.outputs(place, work));
  const result = evaluated instanceof Promise ? await evaluated : evaluated;
  session.now = clock.now();
  if (pending.wasCalledOff(result)) {
    returnWork(session, work);
    return;
  }
  if (result.ok) leaveStep(session, pointer, result.value);
  else failWork(session, work, result.failure);
}

type SelectorWork = Extract<StepWork, { kind: 'selectors' }>;
type Condition = SelectorWork['selectors'][number]['condition'];

/** @returns null if the evaluation was canceled */
async function selectedOf(
  { selectors }: SelectorWork,
  evaluate: (condition: Condition) => MaybePromise<Evaluated<boolean>>,
  pending: PendingEvaluation,
): Promise<readonly string[] | null> {
  const selected: string[] = [];
  for (const { condition, stepId } of selectors) {
    const result = await evaluate(condition);
    if (pending.wasCalledOff(result)) return null;
    if (result.ok && result.value) selected.push(stepId);
  }
  return selected;
}
