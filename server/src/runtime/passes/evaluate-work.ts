/**
 * Does one piece of the engine's work: evaluates its expressions, and returns the values or the failure to the engine. If the
 * evaluation was canceled, the work returns to the engine unchanged.
 */
import type { Session } from '../../engine/session/session.js';
import {
  enterStep,
  type EvaluatedInputs,
  failWork,
  leaveCompensated,
  leaveStep,
  returnWork,
  type StepWork,
} from '../../engine/flow/step-work.js';
import { deadlineAround } from '../../engine/flow/timers.js';
import { traitsOf } from '../../engine/definitions/step-types.js';
import type { Json } from '../../engine/values/json.js';
import { conceal } from '../secrets/secret-marks.js';
import type { PassEnvironment } from './pass-environment.js';
import { andThen, type Evaluated, type EvaluationPlace, type MaybePromise } from './evaluator.js';
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
    const entered = inputsOf(work, { evaluator, place, settled });
    const inputs = entered instanceof Promise ? await entered : entered;
    session.now = clock.now();
    if (pending.wasCalledOff(inputs)) returnWork(session, work);
    else if (inputs.ok) enterStep(session, pointer, inputs.value);
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

interface InputEvaluation {
  readonly evaluator: PassEnvironment['evaluator'];
  readonly place: EvaluationPlace;
  readonly settled: <Value>(evaluated: MaybePromise<Value>) => MaybePromise<Value>;
}

/** The keys of its limits come first: without them, the step can't begin, whatever its inputs are. */
function inputsOf(
  { inputs: sources, step }: Extract<StepWork, { kind: 'inputs' }>,
  { evaluator, place, settled }: InputEvaluation,
): MaybePromise<Evaluated<EvaluatedInputs>> {
  const { takesSecrets } = traitsOf(step);
  const withKeys = (keys?: readonly Json[]): MaybePromise<Evaluated<EvaluatedInputs>> =>
    andThen(settled(evaluator.inputs({ ...place, takesSecrets }, sources)), (evaluated) => {
      if (!evaluated.ok) return evaluated;
      const inputs = evaluated.value;
      const shown = shownInputs(step, takesSecrets ? conceal(inputs) : inputs);
      return { ok: true, value: { inputs, shown, ...(keys !== undefined && { keys }) } };
    });
  if (step.limits.length === 0) return withKeys();
  return andThen(settled(evaluator.limitKeys(place, step.limits)), (evaluated) =>
    evaluated.ok ? withKeys(evaluated.value) : evaluated,
  );
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
